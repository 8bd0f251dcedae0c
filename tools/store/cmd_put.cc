// cellar put: writes cells of one row, as one, and only if the row is as expected where that is asked.
#include <fmt/format.h>

#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/value_form.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class PutCommand final : public Command {
 public:
  explicit PutCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override { return "Write cells of one row, all of them or none"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("ROW", row_, "the row; \\xHH stands for a byte, here and in what follows")
        .operands("COLUMN VALUE", cells_, "family:qualifier and its new value, any number of such pairs",
                  true)
        .option_if("--ts", time_, "TIME", "timestamp of the cells; without it: now")
        .option_if("--ttl", ttl_, "SPAN", "the cells expire this long after their timestamp: 90s, 2h, 7d")
        .choice("--as", form_, value_forms(), "how the values are written")
        .option_if("--if", expected_, "COLUMN=VALUE",
                   "only if that is its newest value; else exit status 1, and nothing written")
        .option_if("--if-absent", absent_, "COLUMN", "only if the column has no value, or an empty one")
        .example("cellar put shop orders user42 d:name Ada d:mail ada@example.org",
                 "two cells of a row, both or none")
        .example("cellar put shop orders user42 c:score 17 --as long --ts now --ttl 7d",
                 "a number in eight bytes that is gone in a week")
        .more_example("cellar put shop orders user42 d:name 'Ada Lovelace' --if d:name=Ada",
                      "only if nobody else changed it")
        .more_example("cellar put shop orders user50 d:name Emmy --if-absent d:name",
                      "only if nobody else has taken it");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string row, parse_bytes(row_));
    Put put(row);
    if (cells_.size() % 2 != 0) {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("column " + cells_.back() + " has no value")
              .hinting("write columns and values in turn: d:name Ada d:mail ada@example.org"));
    }
    int64_t timestamp = kNow;
    if (time_) {
      CELLAR_TRY_ASSIGN(timestamp, parse_time(*time_));
    }
    std::vector<std::string> columns;
    for (size_t i = 0; i < cells_.size(); i += 2) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, parse_one_column(cells_[i]));
      CELLAR_TRY_ASSIGN(const std::string value, parse_value(cells_[i + 1], value_form_of(form_)));
      put.add_at(column.family, *column.qualifier, timestamp, value);
      columns.push_back(cells_[i]);
    }
    if (ttl_) {
      CELLAR_TRY_ASSIGN(const int64_t ttl_ms, parse_duration_ms(*ttl_));
      put.ttl_ms(ttl_ms);
    }
    CheckAndMutate check(row);
    CELLAR_TRY_ASSIGN(const bool conditional, add_condition(session, check, columns));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    CELLAR_TRY(check_columns(session, *opened.table, columns));
    if (!conditional) {
      CELLAR_TRY(opened.table->put(put));
    } else {
      CELLAR_TRY_ASSIGN(const ActionResult result, opened.table->check_and_mutate(check.then(put)));
      if (!result.matched) {
        session.answer_negative();
        session.talk("nothing was written: " +
                     (absent_ ? *absent_ + " has a value" : *expected_ + " does not hold"));
      }
    }
    return opened.engine->close();
  }

 private:
  // Whether there is one; its column is added to those whose family is checked.
  Result<bool> add_condition(Session& session, CheckAndMutate& check,
                             std::vector<std::string>& columns) const {
    if (!expected_ && !absent_) return false;
    if (expected_ && absent_)
      return session.name_failure("CEL-USAGE", Exit::kUsage,
                                  Status::invalid_argument("--if and --if-absent cannot both be asked"));
    const std::string& text = expected_ ? *expected_ : *absent_;
    const size_t end = expected_ ? text.find('=') : text.size();
    if (end == std::string::npos)
      return session.name_failure("CEL-USAGE", Exit::kUsage,
                                  Status::invalid_argument(fmt::format("\"{}\" is no condition", text))
                                      .hinting("write --if d:name=Ada; = within a qualifier is \\x3D"));
    columns.push_back(text.substr(0, end));
    CELLAR_TRY_ASSIGN(const ColumnOperand column, parse_one_column(columns.back()));
    if (absent_) {
      check.if_not_exists(column.family, *column.qualifier);
    } else {
      CELLAR_TRY_ASSIGN(const std::string value, parse_value(text.substr(end + 1), value_form_of(form_)));
      check.if_equals(column.family, *column.qualifier, value);
    }
    return true;
  }

  std::string store_;
  std::string table_;
  std::string row_;
  std::vector<std::string> cells_;
  std::optional<std::string> time_;
  std::optional<std::string> ttl_;
  std::string form_;
  std::optional<std::string> expected_;
  std::optional<std::string> absent_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_put, "put", PutCommand)

}  // namespace cellar
