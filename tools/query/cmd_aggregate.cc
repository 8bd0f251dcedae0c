// cellar aggregate: sums, bounds and averages of values, by groups of rows.
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "base/bytes.h"
#include "cellar/aggregate.h"
#include "tools/frame/command.h"
#include "tools/query/key_fields.h"
#include "tools/query/row_groups.h"
#include "tools/query/scan_options.h"
#include "tools/query/table_operands.h"
#include "tools/query/table_rows.h"

namespace cellar {
namespace {

// Adds a number to a record. One that is no number of JSON is a text there.
void add_number(Records& records, std::string name, int64_t value) { records.number(std::move(name), value); }
void add_double(Records& records, std::string name, double value, std::string people) {
  const std::string text = fmt::format("{}", value);
  records.value(std::move(name), std::isfinite(value) ? text : json_string(text), text, std::move(people));
}
void add_number(Records& records, std::string name, double value) {
  add_double(records, std::move(name), value, fmt::format("{}", value));
}
// People see six digits of what was divided.
void add_quotient(Records& records, std::string name, double value) {
  add_double(records, std::move(name), value, fmt::format("{:.6g}", value));
}
void add_number(Records& records, std::string name, const std::string& value) {
  records.text(std::move(name), value);
}

class AggregateCommand final : public Command {
 public:
  explicit AggregateCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Print sum, least, greatest and average of values, also by groups of rows";
  }

  void declare(Arguments& arguments) override {
    table_.declare(arguments, "aggregate", "");
    rows_.declare(arguments);
    arguments.option_if("--versions", rows_.read.versions, "N|all", "up to N versions of each column")
        .choice("--as", as_, {"long", "double", "decimal"},
                "what values are: 8 bytes (long, double), or the text of a decimal")
        .option_if("--group-by", group_by_, "PART",
                   "bytes:N, fields:N or until:BYTES of a row, or a field of its key")
        .flag("--count-bad", count_bad_,
              "count values that are no such number; default: the first is an error")
        .flag("--explain", explain_, "also print what the read cost: files, blocks, cells");
    shown_.declare(arguments, false);
    arguments
        .note(
            "A group is the rows with the same first part. Groups come in the order of the rows, one at a\n"
            "time. The deviation is the standard deviation of the values.")
        .example("cellar aggregate shop orders --column c:visits", "all counters of a column together")
        .example("cellar aggregate shop views --column v:ms --group-by user",
                 "by the first field of the keys, in a table that keeps key_fields")
        .more_example(
            "cellar aggregate shop orders --column c:visits --versions all --group-by bytes:5 --explain",
            "all versions, by the first five bytes of the rows, and the cost of the read")
        .more_example(
            "cellar aggregate shop orders --prefix user --group-by until:4 --as decimal --count-bad",
            "texts of decimals, among other values, by what comes before a 4")
        .more_example("cellar aggregate shop views --key user=alice --time ..2030-01-01 --format json",
                      "the rows of a user, for a program")
        .more_example(
            "cellar aggregate shop orders --start user41 --start-exclusive --stop user43 "
            "--stop-inclusive \\\n      --column c:visits",
            "after user41, up to and including user43")
        .more_example(
            "cellar aggregate shop orders --limit 2 --filter \"FamilyFilter(=, 'binary:c')\" \\\n      "
            "--group-by bytes:6 --count-bad --decode row=hex",
            "the cells of a family in two rows, with groups in hexadecimal")
        .more_example("cellar aggregate load --assume d:max_versions=3 --count-bad",
                      "a directory of HBase; values that are no numbers are counted");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(rules_, shown_.rules(session));
    Scan scan;
    if (explain_) scan.explain(&cost_.explanation);
    scan.stats(&cost_.stats).fill_cache(false);
    CELLAR_TRY(rows_.apply(scan));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, table_.open(session, {}, true));
    CELLAR_TRY(table_.check_columns(session, *opened.table, rows_.read.columns));
    use_table_schema(session, *opened.table, rules_);
    CELLAR_TRY(rows_.apply_key(session, *opened.table, rules_, scan));
    tell_of_empty_range(session, scan);
    if (group_by_) CELLAR_TRY(take_groups(session, *opened.table));
    const Status printed = as_ == "double"    ? print<double>(session, *opened.table, scan)
                           : as_ == "decimal" ? print<std::string>(session, *opened.table, scan)
                                              : print<int64_t>(session, *opened.table, scan);
    if (!printed.ok()) return table_.name_failure(session, printed);
    if (explain_ && session.format() != Format::kJson) explain(session, cost_);
    return opened.close();
  }

 private:
  Status take_groups(Session& session, const Table& table) {
    Result<RowGroups> groups = RowGroups::parse(*group_by_, key_schema_of(session, table, rules_));
    if (!groups.ok())
      return session.name_failure("CEL-USAGE", Exit::kUsage, groups.status().with_context("--group-by"));
    groups_ = *std::move(groups);
    if (groups_->of_plain_fields() && !rules_.has_row_rule()) CELLAR_TRY(rules_.add("row=key"));
    return {};
  }

  template <class Number>
  void add_record(Records& records, const Aggregate<Number>& found) const {
    if (groups_) {
      records.shown_bytes("group", found.group, rules_.row(found.group));
      if (const std::optional<std::string> key = rules_.key_json(found.group)) records.json_only("key", *key);
    }
    records.count("rows", found.rows).count("values", found.values);
    if (found.values > 0) {
      add_number(records, "sum", found.sum);
      add_number(records, "min", found.min);
      add_number(records, "max", found.max);
      add_quotient(records, "average", found.average);
      add_quotient(records, "deviation", found.deviation);
    } else {
      for (const char* const name : {"sum", "min", "max", "average", "deviation"})
        records.value(name, "null", "", "");
    }
    if (shows_bad_) records.count("bad", found.bad);
    records.add();
  }

  template <class Number>
  Status print(Session& session, Table& table, Scan& scan) {
    shows_bad_ = count_bad_ || session.json_errors();
    Records records(session.out(), session.format(), "cellar.aggregate/1", "groups");
    ScanProgress progress(session, "aggregate", table, scan);
    AggregateOptions options{.count_bad = count_bad_};
    uint64_t rows = 0;
    options.on_way = [&](const RangeCount& met) {
      rows = met.rows;
      progress.step(met.cells);
      return !session.stopping();
    };
    const Status done = read<Number>(table, scan, options, records);
    cost_.micros = progress.micros();
    if (interrupted()) return interrupted_status(counted(rows, "row") + " read");
    if (session.stopping()) return {};  // nobody reads the answer
    CELLAR_TRY(done);
    records.finish(explain_ ? json_members(cost_) : "");
    session.out().flush();
    return {};
  }

  template <class Number>
  Status read(Table& table, const Scan& scan, const AggregateOptions& options, Records& records) const {
    if (!groups_) {
      CELLAR_TRY_ASSIGN(const Aggregate<Number> all, aggregate<Number>(table, scan, options));
      add_record(records, all);
      return {};
    }
    const auto group_of = [&](std::string_view row) { return groups_->bytes_of(row); };
    const auto add = [&](const Aggregate<Number>& found) {
      add_record(records, found);
      return Status();
    };
    return aggregate_groups<Number>(table, scan, group_of, add, options);
  }

  TableOperands table_;
  ScanOptions rows_;
  std::string as_;
  std::optional<std::string> group_by_;
  bool count_bad_ = false;
  bool explain_ = false;
  bool shows_bad_ = false;
  ShownParts shown_;
  ValueRules rules_;
  std::optional<RowGroups> groups_;
  ReadCost cost_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_query_cmd_aggregate, "aggregate", AggregateCommand)

}  // namespace cellar
