// cellar count: how many rows and cells there are.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/scan_options.h"
#include "tools/table_operands.h"

namespace cellar {
namespace {

class CountCommand final : public Command {
 public:
  explicit CountCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override { return "Count rows and cells, by reading them"; }

  void declare(Arguments& arguments) override {
    table_.declare(arguments, "count", "");
    rows_.declare(arguments);
    arguments.option_if("--versions", rows_.read.versions, "N|all", "count up to N versions of each column")
        .example("cellar count shop orders")
        .example("cellar count shop orders --prefix user4 --format json");
  }

  Status run(Session& session) override {
    constexpr uint32_t kCellsAtOnce = 1000;
    Scan scan;
    scan.fill_cache(false);
    CELLAR_TRY(rows_.apply(scan));
    if (scan.row_filter() == nullptr || !scan.row_filter()->needs_whole_row()) scan.batch(kCellsAtOnce);
    CELLAR_TRY_ASSIGN(const OpenedTable opened, table_.open(session, {}, true));
    CELLAR_TRY(table_.check_columns(session, *opened.table, rows_.read.columns));
    Progress progress(session, "count", 0);
    uint64_t rows = 0;
    uint64_t cells = 0;
    {
      const Result<std::unique_ptr<Scanner>> made = opened.table->scan(scan);
      if (!made.ok()) return table_.name_failure(session, made.status());
      const std::unique_ptr<Scanner>& scanner = *made;
      while (!session.stopping() && scanner->next()) {
        cells += scanner->row().cells().size();
        rows += scanner->row().more_cells_in_row() ? 0 : 1;
        progress.step(0, cells);
      }
      if (!scanner->status().ok()) return table_.name_failure(session, scanner->status());
    }
    if (interrupted()) return interrupted_status(fmt::format("{} rows were counted", human_count(rows)));
    Records records(session.out(), session.format(), "cellar.count/1", "counts");
    records.count("rows", rows).count("cells", cells).add();
    records.finish();
    return opened.close();
  }

 private:
  TableOperands table_;
  ScanOptions rows_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_count, "count", CountCommand)

}  // namespace cellar
