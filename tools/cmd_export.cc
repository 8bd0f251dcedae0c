// cellar export: a table as a stream of cells that load takes back.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/cell_printer.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/scan_options.h"
#include "tools/store.h"

namespace cellar {
namespace {

class ExportCommand final : public Command {
 public:
  explicit ExportCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kMove; }
  std::string_view summary() const override {
    return "Print a table's cells in the form that load takes back";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table");
    rows_.declare(arguments);
    arguments.option("--versions", versions_, "N|all", "up to N versions of each column (all)")
        .flag("--raw", raw_, "delete markers and hidden cells, too, as far as they are still stored")
        .flag("--tags", tags_, "tags of each cell, such as its time to live (--to jsonl only)")
        .choice("--to", to_, {"jsonl", "csv"}, "the form")
        .formats({"table", "json"})
        .note("The cells go to standard output whatever --format says, which is for errors only.")
        .example("cellar export shop orders --to jsonl")
        .example("cellar export shop orders --to csv --prefix user4 --column d");
  }

  Status run(Session& session) override {
    constexpr uint32_t kCellsAtOnce = 1000;
    Scan scan;
    scan.raw(raw_).batch(kCellsAtOnce).fill_cache(false);
    ScanOptions rows = rows_;
    rows.read.versions = versions_;
    CELLAR_TRY(rows.apply(scan));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kLooking));
    CELLAR_TRY(check_columns(session, *opened.table, rows_.read.columns));
    Progress progress(session, "export", 0);
    CellPrinter printer(session.out(), {.format = to_ == "csv" ? Format::kCsv : Format::kJsonl,
                                        .what = tags_ ? CellText::kTags : CellText::kPlain});
    {
      CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, opened.table->scan(scan));
      while (!session.stopping() && scanner->next()) {
        for (const CellView& cell : scanner->row()) printer.add(cell);
        progress.step(0, printer.cells());
      }
      CELLAR_TRY(scanner->status());
    }
    if (interrupted())
      return interrupted_status(fmt::format("{} cells were printed", human_count(printer.cells())));
    printer.finish();
    session.out().flush();
    session.talk(
        fmt::format("exported {} in {}", counted(printer.cells(), "cell"), human_micros(progress.micros())));
    return opened.engine->close();
  }

 private:
  std::string store_;
  std::string table_;
  ScanOptions rows_;
  std::string versions_ = "all";
  bool raw_ = false;
  bool tags_ = false;
  std::string to_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_export, "export", ExportCommand)

}  // namespace cellar
