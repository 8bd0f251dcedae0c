// cellar count: how many rows and cells there are.
#include "tools/frame/command.h"
#include "tools/query/scan_options.h"
#include "tools/query/table_operands.h"
#include "tools/query/table_rows.h"

namespace cellar {
namespace {

class CountCommand final : public Command {
 public:
  explicit CountCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override { return "Count rows and cells, by reading them"; }

  void declare(Arguments& arguments) override {
    table_.declare(arguments, "count", "");
    rows_.declare(arguments);
    arguments.option_if("--versions", rows_.read.versions, "N|all", "count up to N versions of each column")
        .example("cellar count shop orders", "the number of rows and cells")
        .example("cellar count shop orders --prefix user4 --column d --format json",
                 "rows with the prefix user4 that have cells in family d")
        .more_example(
            "cellar count shop orders --start user41 --start-exclusive --stop user43 --stop-inclusive",
            "after user41, up to and including user43")
        .more_example("cellar count shop orders --time ..2030-01-01 --versions all --limit 1000",
                      "every version before a day, in the first thousand rows")
        .more_example("cellar count shop orders --filter \"ValueFilter(=, 'substring:Ada')\"",
                      "values that contain Ada")
        .more_example("cellar count shop views --key user=alice",
                      "rows by the first fields of their keys, in a table that keeps key_fields")
        .more_example("cellar count load --assume d:max_versions=3",
                      "a directory of HBase whose family d keeps three versions");
  }

  Status run(Session& session) override {
    Scan scan;
    scan.fill_cache(false);
    CELLAR_TRY(rows_.apply(scan));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, table_.open(session, {}, true));
    CELLAR_TRY(table_.check_columns(session, *opened.table, rows_.read.columns));
    CELLAR_TRY(rows_.apply_key(session, *opened.table, ValueRules(), scan));
    tell_of_empty_range(session, scan);
    const Status counted = print_count(session, *opened.table, scan);
    if (!counted.ok()) return table_.name_failure(session, counted);
    return opened.close();
  }

 private:
  TableOperands table_;
  ScanOptions rows_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_query_cmd_count, "count", CountCommand)

}  // namespace cellar
