// cellar dump: the cells of HFiles, all of them, as they are stored.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/cell_printer.h"
#include "tools/cell_selection.h"
#include "tools/command.h"
#include "tools/hfile_paths.h"
#include "tools/progress.h"

namespace cellar {
namespace {

class DumpCommand final : public Command {
 public:
  explicit DumpCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Print the cells of HFiles: every version, markers included";
  }

  void declare(Arguments& arguments) override {
    arguments.operands("PATH", paths_, "HFiles, directories of them, or stores", true);
    selection_.declare(arguments);
    arguments.option_count("--limit", limit_, "at most N cells")
        .flag("--mvcc", mvcc_, "the number of the write, where the file has it")
        .flag("--tags", tags_, "tags")
        .choice("--as", form_, value_forms(), "how values are shown; not in json and jsonl")
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .example("cellar dump versions.hfile --format jsonl --limit 3")
        .example("cellar dump versions.hfile --row row-000 --mvcc");
  }

  Status run(Session& session) override {
    CELLAR_TRY(selection_.parse());
    CELLAR_TRY_ASSIGN(const std::vector<std::string> files, find_all_hfiles(session, paths_));
    const auto what = static_cast<CellText>((mvcc_ ? 1 : 0) + (tags_ ? 2 : 0));
    CellPrinter printer(
        session.out(),
        {.format = session.format(), .what = what, .types = true, .values = value_form_of(form_)});
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
  Status dump(Session& session, const std::string& path, CellPrinter& printer) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> file, open_hfile(session, path));
    Progress progress(session, "dump " + path, 0);
    return selection_.walk(*file, [&](const CellView& cell) {
      printer.add(cell);
      progress.step(0, printer.cells());
      return !session.stopping() && (limit_ == 0 || printer.cells() < limit_);
    });
  }

  std::vector<std::string> paths_;
  CellSelection selection_;
  uint64_t limit_ = 0;
  bool mvcc_ = false;
  bool tags_ = false;
  std::string form_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_dump, "dump", DumpCommand)

}  // namespace cellar
