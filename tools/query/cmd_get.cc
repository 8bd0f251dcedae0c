// cellar get: one row.
#include <fmt/format.h>

#include "base/text_width.h"
#include "tools/frame/cell_printer.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/frame/read_cost.h"
#include "tools/frame/read_options.h"
#include "tools/frame/short_text.h"
#include "tools/query/key_fields.h"
#include "tools/query/table_operands.h"

namespace cellar {
namespace {

class GetCommand final : public Command {
 public:
  explicit GetCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Print one row, or columns of it; exit status 1 if it does not exist";
  }

  void declare(Arguments& arguments) override {
    table_.declare(arguments, "get", "ROW [COLUMN…]");
    arguments.word("ROW", "row key; \\xHH stands for a byte; not with --key")
        .word("COLUMN", "family:qualifier, or a whole family")
        .option_if("--key", key_, "FIELDS", "the row by the fields of its key: user=alice,when=2026-11-20")
        .option_if("--versions", read_.versions, "N|all", "up to N versions of each column, newest first")
        .option_if("--time", read_.time, "A..B",
                   "only cells with timestamps in this range (cellar help times)")
        .option_if("--filter", read_.filter, "TEXT", "only cells that pass the filter (cellar help filters)");
    declare_row_options(arguments, read_);
    shown_.declare(arguments, true);
    arguments.flag("--explain", explain_, "also print what the read cost: files, blocks, cells")
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .example("cellar get shop orders user42 d:name --explain", "one value, and the cost of reading it")
        .example("cellar get shop orders user42 d:mail --versions all --format jsonl",
                 "all versions of a value, for a program")
        .more_example("cellar get shop orders user42 d --limit-per-family 1 --offset-per-family 1 --per-cell",
                      "the second cell of a family: paging through a wide row")
        .more_example("cellar get shop orders user42 d:mail --time ..2030-01-01 --strict-versions",
                      "the value at a time in the past, without versions that a compaction would drop")
        .more_example(
            "cellar get shop orders user42 c --filter \"QualifierFilter(=, 'substring:visit')\" --as long",
            "columns whose names contain a text; values of eight bytes as numbers")
        .more_example("cellar get shop orders user42 --decode c:visits=long --decode qualifier=text --full",
                      "one column as a number; values whole at a terminal, too")
        .more_example("cellar get shop views --key user=alice,when=2026-11-20 v:ms",
                      "a row by the fields of its key, in a table that keeps key_fields")
        .more_example("cellar get load user42 d:name --assume d:max_versions=3 --versions 3",
                      "a row in a directory of HBase");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(ValueRules rules, shown_.rules(session));
    const std::vector<std::string> names(key_ ? 0 : 1, "ROW");
    CELLAR_TRY_ASSIGN(const OpenedTable opened, table_.open(session, names, false));
    use_table_schema(session, *opened.table, rules);
    read_.columns.assign(table_.rest().begin() + (key_ ? 0 : 1), table_.rest().end());
    CELLAR_TRY_ASSIGN(const std::string row,
                      key_ ? row_of_fields(session, key_schema_of(session, *opened.table, rules), *key_)
                           : for_argument("ROW", parse_bytes(table_.rest().front())));
    CELLAR_TRY(table_.check_columns(session, *opened.table, read_.columns));
    ReadCost cost;
    Get get(row);
    get.stats(&cost.stats);
    if (explain_) get.explain(&cost.explanation);
    CELLAR_TRY(apply_read_options(read_, get));
    const Progress clock(session, "get", 0);
    bool found = false;
    {
      const Result<RowBatch> got = opened.table->get(get);
      if (!got.ok()) return table_.name_failure(session, got.status());
      const RowBatch& rows = *got;
      cost.micros = clock.micros();
      found = !rows.empty();
      CellPrinter printer(session.out(), {.format = session.format(),
                                          .rules = rules,
                                          .line_width = shown_.full() ? SIZE_MAX : session.out().columns()});
      for (const CellView& cell : rows.row()) printer.add(cell);
      printer.finish(explain_ ? json_members(cost) : "");
      session.out().flush();
      tell_of_cut_values(session, printer);
    }
    if (explain_ && session.format() != Format::kJson) explain(session, cost);
    if (!found) {
      session.answer_negative();
      const bool whole = read_.columns.empty() && !read_.time && !read_.filter && !read_.offset_per_family;
      session.talk(shortened(
          fmt::format("{} \"{}\"", whole ? "no row" : "no such cells in row", key_ ? *key_ : readable(row))));
    }
    return opened.close();
  }

 private:
  TableOperands table_;
  ReadOptions read_;
  std::optional<std::string> key_;
  ShownParts shown_;
  bool explain_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_query_cmd_get, "get", GetCommand)

}  // namespace cellar
