// cellar estimate: how much there is between two rows, and where to cut it, without reading it.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/query/table_operands.h"

namespace cellar {
namespace {

class EstimateCommand final : public Command {
 public:
  explicit EstimateCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "How much there is between two rows, and where to cut it, from indexes and filters";
  }

  void declare(Arguments& arguments) override {
    table_.declare(arguments, "estimate", "");
    arguments.option("--start", start_, "ROW", "first row; without it the table's first")
        .option("--stop", stop_, "ROW", "up to but not including this row")
        .option_list("--family", families_, "FAMILY", "only this family; may be given again")
        .option_count("--parts", parts_, "rows that cut the range into N parts of much the same size")
        .note(
            "Counts what is stored: versions, markers and what they hide. The truth lies between low\n"
            "and high: close to each other in files that Cellar wrote, far apart for parts of others.")
        .example("cellar estimate shop orders --start user4 --stop user5 --family d",
                 "how much of family d lies between two rows")
        .example("cellar estimate shop orders --parts 4", "where to cut a table for four workers")
        .more_example("cellar estimate load --assume d:max_versions=3", "HFiles of HBase's where they lie");
  }

  Status run(Session& session) override {
    KeyRange range;
    CELLAR_TRY_ASSIGN(range.start, unescaped(start_));
    CELLAR_TRY_ASSIGN(range.stop, unescaped(stop_));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, table_.open(session, {}, true));
    CELLAR_TRY(table_.check_columns(session, *opened.table, families_));
    const Status printed = parts_ == 0 ? print_estimate(session, *opened.table, range)
                                       : print_splits(session, *opened.table, range);
    if (!printed.ok()) return table_.name_failure(session, printed);
    return opened.close();
  }

 private:
  Status print_estimate(Session& session, Table& table, const KeyRange& range) const {
    CELLAR_TRY_ASSIGN(const RangeEstimate estimate, table.estimate(range, families_));
    Records records(session.out(), session.format(), "cellar.range/1", "figures");
    const auto line = [&](std::string_view name, const EstimatedFigure& figure) {
      records.text("figure", name).count("low", figure.low).count("estimate", figure.estimate);
      records.count("high", figure.high).add();
    };
    line("bytes", estimate.bytes);
    line("cells", estimate.cells);
    line("rows", estimate.rows);
    records.count("files", estimate.files);
    records.finish();
    return {};
  }

  Status print_splits(Session& session, Table& table, const KeyRange& range) const {
    CELLAR_TRY_ASSIGN(const RangeSplits splits, table.split_points(parts_, range, families_));
    Records records(session.out(), session.format(), "cellar.splits/1", "splits");
    for (const std::string& row : splits.rows) records.bytes("row", row).add();
    records.count("bytes", splits.bytes).count("largest_part", splits.largest_part);
    records.count("error", splits.error);
    records.finish();
    if (session.format() == Format::kTable)
      session.talk(fmt::format("{} of {}, the largest of {} give or take {}",
                               counted(splits.rows.size() + 1, "part"), human_bytes(splits.bytes),
                               human_bytes(splits.largest_part), human_bytes(splits.error)));
    return {};
  }

  TableOperands table_;
  std::string start_;
  std::string stop_;
  std::vector<std::string> families_;
  uint64_t parts_ = 0;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_query_cmd_estimate, "estimate", EstimateCommand)

}  // namespace cellar
