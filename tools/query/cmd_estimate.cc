// cellar estimate: how much there is between two rows, and where to cut it, without reading it.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/value_rules.h"
#include "tools/query/key_fields.h"
#include "tools/query/table_operands.h"

namespace cellar {
namespace {

class EstimateCommand final : public Command {
 public:
  explicit EstimateCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Estimate the size of a range of rows, or where to cut it, without reading it";
  }

  void declare(Arguments& arguments) override {
    table_.declare(arguments, "estimate", "");
    arguments.option("--start", start_, "ROW", "first row; default: the first row of the table")
        .option("--stop", stop_, "ROW", "end of the range; this row is not included")
        .option_list("--family", families_, "FAMILY", "only this family; may be repeated")
        .option_if("--parts", parts_text_, "N",
                   "print the rows that cut the range into N parts of similar size");
    shown_.declare(arguments, false);
    arguments
        .note(
            "Counts everything that is stored: all versions, delete markers and hidden cells. The exact\n"
            "figure is between low and high. These are close for files that Cellar wrote.")
        .example("cellar estimate shop orders --start user4 --stop user5 --family d",
                 "the size of family d between two rows")
        .example("cellar estimate shop orders --parts 4 --decode row=text",
                 "the rows that cut a table into parts for four workers")
        .more_example("cellar estimate load --assume d:max_versions=3",
                      "read HFiles in a directory of HBase");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(rules_, shown_.rules(session));
    if (parts_text_) {
      CELLAR_TRY_ASSIGN(parts_, for_argument("--parts", parse_count(*parts_text_)));
      if (parts_ == 0)
        return Status::invalid_argument("--parts: a range has at least 1 part").hinting("write --parts 4");
    }
    KeyRange range;
    CELLAR_TRY_ASSIGN(range.start, for_argument("--start", parse_bytes(start_)));
    CELLAR_TRY_ASSIGN(range.stop, for_argument("--stop", parse_bytes(stop_)));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, table_.open(session, {}, true));
    CELLAR_TRY(table_.check_columns(session, *opened.table, families_));
    use_table_schema(session, *opened.table, rules_);
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
    for (const std::string& row : splits.rows) {
      records.shown_bytes("row", row, rules_.row(row));
      if (const std::optional<std::string> key = rules_.key_json(row)) records.json_only("key", *key);
      records.add();
    }
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
  std::optional<std::string> parts_text_;
  uint64_t parts_ = 0;
  ShownParts shown_;
  ValueRules rules_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_query_cmd_estimate, "estimate", EstimateCommand)

}  // namespace cellar
