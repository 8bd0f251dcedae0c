// cellar get-counter: counters of one row.
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/text_width.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class GetCounterCommand final : public Command {
 public:
  explicit GetCounterCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Print counters of one row; exit status 1 if one does not exist";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("ROW", row_, "row key; \\xHH stands for a byte")
        .operands("COLUMN", columns_, "family:qualifier", true)
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .note("A counter is 8 bytes, big-endian, as cellar incr and HBase write it.")
        .example("cellar get-counter shop orders user42 c:visits", "one counter")
        .example("cellar get-counter shop orders user42 c:visits c:stock --format json",
                 "two counters, for a program");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string row, for_argument("ROW", parse_bytes(row_)));
    Get get(row);
    std::vector<ColumnOperand> columns;
    for (const std::string& text : columns_) {
      CELLAR_TRY_ASSIGN(columns.emplace_back(), for_argument("COLUMN", parse_one_column(text)));
      get.column(columns.back().family, *columns.back().qualifier);
    }
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kLooking));
    CELLAR_TRY(check_columns(session, *opened.table, columns_));
    CELLAR_TRY_ASSIGN(const Row found, read(*opened.table, get));
    CELLAR_TRY(opened.close());
    for (const Cell& cell : found.cells)
      if (cell.value.size() != 8)
        return Status::invalid_argument(
                   fmt::format("column {}:{} is not a counter: its value has {} bytes, not 8", cell.family,
                               escaped(cell.qualifier), cell.value.size()))
            .hinting("cellar get prints the value");
    print(session, row, found, columns);
    return {};
  }

 private:
  static Result<Row> read(Table& table, const Get& get) {
    CELLAR_TRY_ASSIGN(const RowBatch rows, table.get(get));
    return rows.row().to_row();
  }

  void print(Session& session, std::string_view row, const Row& found,
             const std::vector<ColumnOperand>& columns) const {
    Records records(session.out(), session.format(), "cellar.get-counter/1", "counters");
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto value = found.value(columns[i].family, *columns[i].qualifier);
      if (!value) {
        session.answer_negative();
        session.talk(fmt::format("row {} has no counter {}", readable(row), columns_[i]));
        continue;
      }
      if (session.format() != Format::kRaw) records.text("column", columns_[i]);
      records.number("value", static_cast<int64_t>(load_be64(value->data()))).add();
    }
    records.finish();
  }

  std::string store_;
  std::string table_;
  std::string row_;
  std::vector<std::string> columns_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_get_counter, "get-counter", GetCounterCommand)

}  // namespace cellar
