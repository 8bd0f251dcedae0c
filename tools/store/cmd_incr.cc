// cellar incr: adds to counters of one row, as one, and prints what they are now.
#include "base/bytes.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/increment_error.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class IncrCommand final : public Command {
 public:
  explicit IncrCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Add to counters of one row and print their new values";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("ROW", row_, "the row; \\xHH stands for a byte")
        .operands("COLUMN [N]", words_, "family:qualifier, and what to add: 1 when not said; may be negative",
                  true)
        .flag("--wrap", wrap_, "a sum beyond 64 bits wraps around, as HBase does; else that is an error")
        .formats({"table", "json", "jsonl", "csv", "raw"})
        .example("cellar incr shop orders user42 c:visits", "one more")
        .example("cellar incr shop orders user42 c:visits 5 c:stock -1 --format json",
                 "two counters of a row as one")
        .example("cellar incr shop orders user42 c:visits --wrap",
                 "a number that may start again from below, as HBase's do");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string row, parse_bytes(row_));
    Increment increment(row);
    increment.wrap_on_overflow(wrap_);
    std::vector<std::string> columns;
    for (size_t i = 0; i < words_.size();) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, parse_one_column(words_[i]));
      columns.push_back(words_[i++]);
      int64_t amount = 1;
      if (i < words_.size() && words_[i].find(':') == std::string::npos) {
        CELLAR_TRY_ASSIGN(amount, parse_integer(words_[i++]));
      }
      increment.add(column.family, *column.qualifier, amount);
    }
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    CELLAR_TRY(check_columns(session, *opened.table, columns));
    const Result<std::vector<int64_t>> added = opened.table->increment(increment);
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
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_incr, "incr", IncrCommand)

}  // namespace cellar
