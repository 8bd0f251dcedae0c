// cellar put: writes cells of one row, as one.
#include "tools/command.h"
#include "tools/operands.h"
#include "tools/store.h"

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
        .example("cellar put shop orders user42 d:name Ada d:mail ada@example.org")
        .example("cellar put shop orders user42 c:score 17 --as long --ts 2026-11-20 --ttl 7d");
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
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    CELLAR_TRY(check_columns(session, *opened.table, columns));
    CELLAR_TRY(opened.table->put(put));
    return opened.engine->close();
  }

 private:
  std::string store_;
  std::string table_;
  std::string row_;
  std::vector<std::string> cells_;
  std::optional<std::string> time_;
  std::optional<std::string> ttl_;
  std::string form_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_put, "put", PutCommand)

}  // namespace cellar
