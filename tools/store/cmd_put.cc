// cellar put: writes cells of one row atomically, and only if the row is as expected where that is asked.
#include <fmt/format.h>

#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/value_form.h"
#include "tools/store/store.h"
#include "tools/store/write_choice.h"

namespace cellar {
namespace {

class PutCommand final : public Command {
 public:
  explicit PutCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override { return "Write cells of one row, atomically"; }

  void declare(Arguments& arguments) override {
    declare_row(arguments);
    files_.declare(arguments);
    write_.declare(arguments);
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string row, for_argument("ROW", parse_bytes(row_)));
    Put put(row);
    std::vector<std::string> columns;
    CELLAR_TRY(add_cells(session, put, columns));
    if (ttl_) {
      CELLAR_TRY_ASSIGN(const int64_t ttl_ms, for_argument("--ttl", parse_duration_ms(*ttl_)));
      put.ttl_ms(ttl_ms);
    }
    CheckAndMutate check(row);
    CELLAR_TRY_ASSIGN(const bool conditional, add_condition(session, check, columns));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    CELLAR_TRY(check_columns(session, *opened.table, columns));
    if (!conditional) {
      CELLAR_TRY(opened.table->put(put, write_.options()));
    } else {
      CELLAR_TRY_ASSIGN(const ActionResult result,
                        opened.table->check_and_mutate(check.then(put), write_.options()));
      if (!result.matched) {
        session.answer_negative();
        session.talk("nothing was written: " +
                     (absent_ ? *absent_ + " has a value" : *expected_ + " does not hold"));
      }
    }
    return opened.engine->close();
  }

 private:
  void declare_row(Arguments& arguments) {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("ROW", row_, "row key; \\xHH stands for a byte, here and in the other arguments")
        .operands("COLUMN VALUE", cells_, "family:qualifier and its new value; pairs may be repeated", false)
        .option_if("--ts", time_, "TIME", "timestamp of the cells; default: now")
        .option_if("--ttl", ttl_, "SPAN", "the cells expire this long after their timestamp: 90s, 2h, 7d")
        .choice("--as", form_, value_forms(), "form of the values")
        .option_if("--if", expected_, "COLUMN=VALUE",
                   "write only if the column has this value; otherwise exit status 1")
        .option_if("--if-absent", absent_, "COLUMN", "write only if the column has no value, or an empty one")
        .more_example("cellar put shop orders user42 --from-file d:notes=notes.txt --durability fsync_wal",
                      "a value from a file, on the disk before the command ends")
        .example("cellar put shop orders user42 d:name Ada d:mail ada@example.org",
                 "two cells of a row, atomically")
        .example("cellar put shop orders user42 c:score 17 --as long --ts now --ttl 7d",
                 "a number in eight bytes that expires in a week")
        .more_example("cellar put shop orders user42 d:name 'Ada Lovelace' --if d:name=Ada",
                      "only if nobody else changed it")
        .more_example("cellar put shop orders user50 d:name Emmy --if-absent d:name",
                      "only if nobody else wrote it");
  }

  // Adds the cells of the command line and of files; their columns are added to those that are checked.
  Status add_cells(Session& session, Put& put, std::vector<std::string>& columns) const {
    const auto usage = [&](Status status) {
      return session.name_failure("CEL-USAGE", Exit::kUsage, std::move(status));
    };
    if (cells_.size() % 2 != 0)
      return usage(Status::invalid_argument("column " + cells_.back() + " has no value")
                       .hinting("write columns and values in turn: d:name Ada d:mail ada@example.org"));
    if (cells_.empty() && files_.empty())
      return usage(Status::invalid_argument("COLUMN VALUE is missing")
                       .hinting("usage: cellar put STORE TABLE ROW COLUMN VALUE…   (cellar put --help)"));
    int64_t timestamp = kNow;
    if (time_) {
      CELLAR_TRY_ASSIGN(timestamp, for_argument("--ts", parse_time(*time_)));
    }
    for (size_t i = 0; i < cells_.size(); i += 2) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("COLUMN", parse_one_column(cells_[i])));
      CELLAR_TRY_ASSIGN(const std::string value,
                        for_argument("VALUE", parse_value(cells_[i + 1], value_form_of(form_))));
      put.add_at(column.family, *column.qualifier, timestamp, value);
      columns.push_back(cells_[i]);
    }
    CELLAR_TRY_ASSIGN(const auto from_files, files_.read());
    for (const auto& [name, value] : from_files) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, parse_one_column(name));
      put.add_at(column.family, *column.qualifier, timestamp, value);
      columns.push_back(name);
    }
    return {};
  }

  // Returns true if there is a condition. Adds its column to those whose family is checked.
  Result<bool> add_condition(Session& session, CheckAndMutate& check,
                             std::vector<std::string>& columns) const {
    if (!expected_ && !absent_) return false;
    if (expected_ && absent_)
      return session.name_failure("CEL-USAGE", Exit::kUsage,
                                  Status::invalid_argument("--if and --if-absent exclude each other"));
    const std::string& text = expected_ ? *expected_ : *absent_;
    const size_t end = expected_ ? text.find('=') : text.size();
    if (end == std::string::npos)
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument(fmt::format("--if: invalid condition \"{}\"", escaped(text)))
              .hinting("write --if d:name=Ada; a = within a qualifier is written \\x3D"));
    columns.push_back(text.substr(0, end));
    CELLAR_TRY_ASSIGN(const ColumnOperand column,
                      for_argument(expected_ ? "--if" : "--if-absent", parse_one_column(columns.back())));
    if (absent_) {
      check.if_not_exists(column.family, *column.qualifier);
    } else {
      CELLAR_TRY_ASSIGN(const std::string value,
                        for_argument("--if", parse_value(text.substr(end + 1), value_form_of(form_))));
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
  FileValues files_;
  WriteChoice write_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_put, "put", PutCommand)

}  // namespace cellar
