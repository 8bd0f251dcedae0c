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
    shown_.declare(arguments, true);
    arguments.option_count("--limit", limit_, "print at most N cells")
        .flag("--keys", keys_, "leave out the values")
        .flag("--mvcc", mvcc_, "print the sequence number of the write, if the file has it")
        .flag("--tags", tags_, "tags")
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
        .more_example(
            "cellar dump weblog.hfile --decode cf:hits=long --decode cf:bytes=long --limit 4 --full",
            "columns that hold numbers as bytes, decoded")
        .more_example("cellar dump weblog.hfile --sample 2% --seed 7 --keys --format csv",
                      "the keys of a sample of 2 %, the same sample each time");
  }

  Status run(Session& session) override {
    CELLAR_TRY(selection_.parse());
    CELLAR_TRY(sieve_.parse());
    CELLAR_TRY_ASSIGN(const ValueRules rules, shown_.rules(session));
    if (keys_ && session.format() == Format::kRaw) {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("--format raw prints values, --keys leaves them out"));
    }
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_all_hfiles(session, paths_));
    CellPrinter printer(session.out(), {.format = session.format(),
                                        .mvcc = mvcc_,
                                        .tags = tags_,
                                        .values = !keys_,
                                        .types = true,
                                        .rules = rules,
                                        .line_width = shown_.full() ? SIZE_MAX : session.out().columns()});
    for (const std::string& file : files) {
      if (limit_ > 0 && printer.cells() >= limit_) break;
      const Status status = dump(session, file, printer);
      if (!status.ok()) {
        session.out().flush();
        return name_file_failure(session, status);
      }
    }
    if (interrupted()) return interrupted_status(counted(printer.cells(), "cell") + " printed");
    printer.finish();
    session.out().flush();
    tell_of_cut_values(session, printer);
    return {};
  }

 private:
  Status dump(Session& session, const std::string& path, CellPrinter& printer) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> file, open_hfile(session, path));
    Progress progress(session, "dump " + path, selection_.cells_of(*file), Progress::Unit::kCells);
    sieve_.begin_file();
    return selection_.walk(*file, progress, [&](const CellView& cell) {
      if (!sieve_.takes(cell)) return !session.stopping();
      printer.add(cell);
      return !session.stopping() && (limit_ == 0 || printer.cells() < limit_);
    });
  }

  std::vector<std::string> paths_;
  CellSelection selection_;
  CellSieve sieve_;
  bool keys_ = false;
  uint64_t limit_ = 0;
  bool mvcc_ = false;
  bool tags_ = false;
  ShownParts shown_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_dump, "dump", DumpCommand)

}  // namespace cellar
