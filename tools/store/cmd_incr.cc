// cellar incr: adds to counters of one row atomically, and prints their new values.
#include "base/bytes.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/increment_error.h"
#include "tools/store/store.h"
#include "tools/store/write_choice.h"

namespace cellar {
namespace {

class IncrCommand final : public Command {
 public:
  explicit IncrCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Add to counters of one row and print their new values";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("ROW", row_, "row key; \\xHH stands for a byte")
        .operands("COLUMN [N]", words_,
                  "family:qualifier, and the number to add; default: 1; may be negative", true)
        .flag("--wrap", wrap_, "wrap around on overflow of 64 bits, as HBase does; default: an error");
    write_.declare(arguments);
    arguments.formats({"table", "json", "jsonl", "csv", "raw"})
        .example("cellar incr shop orders user42 c:visits", "add 1 to a counter")
        .example("cellar incr shop orders user42 c:visits 5 c:stock -1 --format json",
                 "two counters of a row, atomically")
        .example("cellar incr shop orders user42 c:visits --wrap --durability async_wal",
                 "a counter that may overflow, as in HBase, and need not survive a crash");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string row, for_argument("ROW", parse_bytes(row_)));
    Increment increment(row);
    increment.wrap_on_overflow(wrap_);
    std::vector<std::string> columns;
    for (size_t i = 0; i < words_.size();) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("COLUMN", parse_one_column(words_[i])));
      columns.push_back(words_[i++]);
      int64_t amount = 1;
      if (i < words_.size() && words_[i].find(':') == std::string::npos) {
        CELLAR_TRY_ASSIGN(amount, for_argument("N", parse_integer(words_[i++])));
      }
      increment.add(column.family, *column.qualifier, amount);
    }
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    CELLAR_TRY(check_columns(session, *opened.table, columns));
    const Result<std::vector<int64_t>> added = opened.table->increment(increment, write_.options());
    if (!added.ok()) return with_overflow_hint(added.status(), "--wrap");
    const std::vector<int64_t>& sums = *added;
    CELLAR_TRY(opened.engine->close());
    Records records(session.out(), session.format(), "cellar.incr/1", "counters");
    for (size_t i = 0; i < sums.size() && i < columns.size(); ++i) {
      if (session.format() != Format::kRaw) records.text("column", columns[i]);
      records.number("value", sums[i]).add();
    }
    records.finish();
    return {};
  }

 private:
  std::string store_;
  std::string table_;
  std::string row_;
  std::vector<std::string> words_;
  bool wrap_ = false;
  WriteChoice write_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_incr, "incr", IncrCommand)

}  // namespace cellar
