// cellar count: how many rows and cells there are.
#include "tools/command.h"
#include "tools/scan_options.h"
#include "tools/table_operands.h"
#include "tools/table_rows.h"

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
    Scan scan;
    scan.fill_cache(false);
    CELLAR_TRY(rows_.apply(scan));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, table_.open(session, {}, true));
    CELLAR_TRY(table_.check_columns(session, *opened.table, rows_.read.columns));
    const Status counted = print_count(session, *opened.table, scan);
    if (!counted.ok()) return table_.name_failure(session, counted);
    return opened.close();
  }

 private:
  TableOperands table_;
  ScanOptions rows_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_count, "count", CountCommand)

}  // namespace cellar
