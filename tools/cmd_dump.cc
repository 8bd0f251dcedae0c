// cellar dump: the cells of HFiles, all of them, as they are stored.
#include <fmt/format.h>

#include <optional>

#include "base/bytes.h"
#include "cell/cell_key.h"
#include "tools/cell_printer.h"
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
    arguments.operands("PATH", paths_, "HFiles, directories of them, or stores", true)
        .option("--row", row_, "ROW", "only this row")
        .option("--start", start_, "ROW", "first row")
        .option("--stop", stop_, "ROW", "end, not included")
        .option("--prefix", prefix_, "BYTES", "rows that begin so")
        .option_list("--column", columns_, "COLUMN", "family:qualifier or family; may be given often")
        .option_count("--limit", limit_, "at most N cells")
        .flag("--mvcc", mvcc_, "the number of the write, where the file has it")
        .flag("--tags", tags_, "tags")
        .choice("--as", form_, value_forms(), "how values are shown; not in json and jsonl")
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .example("cellar dump versions.hfile --format jsonl --limit 3")
        .example("cellar dump versions.hfile --row row-000 --mvcc");
  }

  Status run(Session& session) override {
    CELLAR_TRY(parse());
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
  Status parse() {
    CELLAR_TRY_ASSIGN(start_, parse_bytes(start_));
    CELLAR_TRY_ASSIGN(stop_, parse_bytes(stop_));
    CELLAR_TRY_ASSIGN(prefix_, parse_bytes(prefix_));
    CELLAR_TRY_ASSIGN(row_, parse_bytes(row_));
    for (const std::string& text : columns_) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, parse_column(text));
      chosen_.push_back(column);
    }
    if (prefix_ > start_) start_ = prefix_;
    if (!row_.empty()) start_ = row_;
    return {};
  }

  // Whether no later row of a file in byte order can be asked for.
  bool beyond(std::string_view row) const {
    if (!stop_.empty() && row >= stop_) return true;
    if (!row_.empty() && row > row_) return true;
    return !prefix_.empty() && row > prefix_ && !row.starts_with(prefix_);
  }

  bool wanted(const CellView& cell) const {
    const std::string_view row = cell.row();
    if (row < start_ || beyond(row)) return false;
    if (chosen_.empty()) return true;
    for (const ColumnOperand& column : chosen_) {
      if (column.family == cell.family() && (!column.qualifier || *column.qualifier == cell.qualifier()))
        return true;
    }
    return false;
  }

  Status dump(Session& session, const std::string& path, CellPrinter& printer) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> file, open_hfile(session, path));
    Progress progress(session, "dump " + path, 0);
    const std::unique_ptr<CellCursor> cursor = file->cursor({.fill_cache = false, .sequential = true});
    OwnedCell first;
    first_of_row(first, file->meta_order() ? std::string_view() : start_);
    for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next()) {
      if (session.stopping()) return {};
      if (!file->meta_order() && beyond(cell->row())) break;
      if (!wanted(*cell)) continue;
      printer.add(*cell);
      progress.step(0, printer.cells());
      if (limit_ > 0 && printer.cells() >= limit_) return {};
    }
    return cursor->status();
  }

  std::vector<std::string> paths_;
  std::string row_;
  std::string start_;
  std::string stop_;
  std::string prefix_;
  std::vector<std::string> columns_;
  std::vector<ColumnOperand> chosen_;
  uint64_t limit_ = 0;
  bool mvcc_ = false;
  bool tags_ = false;
  std::string form_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_dump, "dump", DumpCommand)

}  // namespace cellar
