// cellar dump: the cells of HFiles, all of them, as they are stored.
#include <fmt/format.h>

#include "base/bytes.h"
#include "hfile/read/hfile_reader.h"
#include "tools/files/cell_selection.h"
#include "tools/files/cell_sieve.h"
#include "tools/frame/cell_printer.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

class DumpCommand final : public Command {
 public:
  explicit DumpCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Print the cells of HFiles: all versions and delete markers";
  }

  void declare(Arguments& arguments) override {
    arguments.operands("PATH", paths_, "HFiles, directories of them, or stores", true);
    selection_.declare(arguments);
    sieve_.declare(arguments);
    arguments.option_count("--limit", limit_, "print at most N cells")
        .flag("--keys", keys_, "leave out the values")
        .flag("--mvcc", mvcc_, "print the sequence number of the write, if the file has it")
        .flag("--tags", tags_, "tags")
        .choice("--as", form_, value_forms(), "how values are printed; not in json and jsonl")
        .option_list("--decode", decode_, "RULE",
                     "how parts are printed: row=FORM, qualifier=FORM, d:count=long; may be repeated")
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .example("cellar dump versions.hfile --format jsonl --limit 3",
                 "the first cells, in the format that load reads")
        .example("cellar dump versions.hfile --row row-000 --mvcc --tags",
                 "everything of a row: delete markers, sequence numbers, tags")
        .more_example(
            "cellar dump versions.hfile --start row-010 --stop row-012 --column cf:q0 \\\n      --time "
            "..2020-09-20 --versions 2",
            "some rows, the two newest versions of a column before a day")
        .more_example("cellar dump weblog.hfile --prefix uk. --grep rv:4 --types put --as utf8 --format raw",
                      "values that match an expression, one per line")
        .more_example("cellar dump weblog.hfile --decode cf:hits=long --decode cf:bytes=long --limit 4",
                      "columns that hold numbers as bytes, decoded")
        .more_example("cellar dump weblog.hfile --sample 2% --seed 7 --keys --format csv",
                      "the keys of a sample of 2 %, the same sample each time");
  }

  Status run(Session& session) override {
    CELLAR_TRY(selection_.parse());
    CELLAR_TRY(sieve_.parse());
    CELLAR_TRY_ASSIGN(const ValueRules rules, parse_rules(session));
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_all_hfiles(session, paths_));
    const auto what = static_cast<CellText>((mvcc_ ? 1 : 0) + (tags_ ? 2 : 0) + (keys_ ? 4 : 0));
    CellPrinter printer(session.out(),
                        {.format = session.format(), .what = what, .types = true, .rules = rules});
    for (const std::string& file : files) {
      if (limit_ > 0 && printer.cells() >= limit_) break;
      const Status status = dump(session, file, printer);
      if (!status.ok()) {
        session.out().flush();
        return name_file_failure(session, status);
      }
    }
    if (interrupted())
      return interrupted_status(fmt::format("{} cells were printed", human_count(printer.cells())));
    printer.finish();
    return {};
  }

 private:
  Result<ValueRules> parse_rules(Session& session) const {
    ValueRules rules(value_form_of(form_));
    for (const std::string& rule : decode_) CELLAR_TRY(rules.add(rule));
    const bool json = session.format() == Format::kJson || session.format() == Format::kJsonl;
    if (json && !decode_.empty()) {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("cells have one form in json and jsonl, which --decode does not change")
              .hinting("--format table or csv"));
    }
    if (keys_ && session.format() == Format::kRaw) {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("--format raw prints values, --keys leaves them out"));
    }
    return rules;
  }

  Status dump(Session& session, const std::string& path, CellPrinter& printer) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> file, open_hfile(session, path));
    Progress progress(session, "dump " + path, 0);
    sieve_.begin_file();
    return selection_.walk(*file, [&](const CellView& cell) {
      if (!sieve_.takes(cell)) return !session.stopping();
      printer.add(cell);
      progress.step(0, printer.cells());
      return !session.stopping() && (limit_ == 0 || printer.cells() < limit_);
    });
  }

  std::vector<std::string> paths_;
  CellSelection selection_;
  CellSieve sieve_;
  bool keys_ = false;
  std::vector<std::string> decode_;
  uint64_t limit_ = 0;
  bool mvcc_ = false;
  bool tags_ = false;
  std::string form_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_dump, "dump", DumpCommand)

}  // namespace cellar
