// cellar scan: rows in order.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/frame/cell_printer.h"
#include "tools/frame/command.h"
#include "tools/frame/read_cost.h"
#include "tools/frame/read_options.h"
#include "tools/query/key_fields.h"
#include "tools/query/scan_options.h"
#include "tools/query/table_operands.h"
#include "tools/query/table_rows.h"

namespace cellar {
namespace {

class ScanCommand final : public Command {
 public:
  explicit ScanCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override { return "Print rows in order, or in reverse order"; }

  void declare(Arguments& arguments) override {
    table_.declare(arguments, "scan", "");
    rows_.declare(arguments);
    declare_row_options(arguments, rows_.read);
    shown_.declare(arguments, true);
    arguments
        .option_if("--versions", rows_.read.versions, "N|all",
                   "up to N versions of each column, newest first")
        .flag("--reverse", reverse_, "from the last row to the first")
        .flag("--raw", raw_, "include delete markers and hidden cells that are still stored")
        .option_count("--batch", batch_, "read wide rows in parts of at most N cells")
        .flag("--explain", explain_, "also print what the read cost: files, blocks, cells")
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .example("cellar scan shop orders --prefix user4 --column d --limit 10",
                 "the first rows with a prefix, one family of each")
        .example("cellar scan shop orders --start user41 --start-exclusive --stop user43 --stop-inclusive",
                 "after user41, up to and including user43")
        .more_example(
            "cellar scan shop orders --reverse --limit 3 --time ..2030-01-01 --strict-versions",
            "the last rows first, at a time in the past, without versions that a compaction would drop")
        .more_example("cellar scan shop orders --filter \"ColumnPrefixFilter('na') AND PageFilter(2)\"",
                      "two rows, with the columns whose names have a prefix")
        .more_example("cellar scan shop orders --raw --versions all --explain",
                      "everything that is still stored, with delete markers, and the cost of the read")
        .more_example(
            "cellar scan shop orders --column d --limit-per-family 1 --offset-per-family 1 --per-cell",
            "the second cell of each row")
        .more_example("cellar scan shop orders --column c --as long --batch 100 --decode row=hex --full",
                      "numbers, and rows in hexadecimal; wide rows in parts, values whole at a terminal")
        .more_example(
            "cellar scan shop views --key user=alice --decode 'row=key(user text, when int64 desc ms)'",
            "rows by the first fields of their keys; a table may keep the fields: key_fields")
        .more_example("cellar scan load --assume d:max_versions=3", "read HFiles in a directory of HBase");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(ValueRules rules, shown_.rules(session));
    ReadCost cost;
    Scan scan;
    if (explain_) scan.explain(&cost.explanation);
    scan.stats(&cost.stats).reversed(reverse_).raw(raw_);
    if (batch_ > UINT32_MAX) return Status::invalid_argument("--batch is larger than 4,294,967,295");
    scan.batch(static_cast<uint32_t>(batch_));
    CELLAR_TRY(rows_.apply(scan));
    if (raw_ && !rows_.read.versions) scan.all_versions();
    CELLAR_TRY_ASSIGN(const OpenedTable opened, table_.open(session, {}, true));
    CELLAR_TRY(table_.check_columns(session, *opened.table, rows_.read.columns));
    use_table_schema(session, *opened.table, rules);
    CELLAR_TRY(rows_.apply_key(session, *opened.table, rules, scan));
    tell_of_empty_range(session, scan);
    CellPrinter printer(session.out(), {.format = session.format(),
                                        .types = raw_,
                                        .rules = rules,
                                        .line_width = shown_.full() ? SIZE_MAX : session.out().columns()});
    const Result<uint64_t> rows = print_rows(session, *opened.table, scan, printer, cost);
    if (!rows.ok()) return table_.name_failure(session, rows.status());
    printer.finish(explain_ ? json_members(cost) : "");
    session.out().flush();
    tell_of_cut_values(session, printer);
    if (explain_ && session.format() != Format::kJson) explain(session, cost);
    if (session.format() == Format::kTable && !session.stopping()) {
      session.talk(fmt::format("{}, {}, {}", counted(*rows, "row"), counted(printer.cells(), "cell"),
                               human_micros(cost.micros)));
    }
    return opened.close();
  }

 private:
  TableOperands table_;
  ScanOptions rows_;
  bool reverse_ = false;
  bool raw_ = false;
  uint64_t batch_ = 0;
  ShownParts shown_;
  bool explain_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_query_cmd_scan, "scan", ScanCommand)

}  // namespace cellar
