// cellar deleteall: hides a row, or families and columns of it, with all versions.
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/store.h"
#include "tools/store/write_choice.h"

namespace cellar {
namespace {

class DeleteAllCommand final : public Command {
 public:
  explicit DeleteAllCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override { return "Delete a row, or whole families and columns of it"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("ROW", row_, "row key; \\xHH stands for a byte")
        .operands("COLUMN", columns_, "family, or family:qualifier; default: the whole row", false)
        .option_if("--ts", time_, "TIME", "only cells up to this timestamp; default: now");
    write_.declare(arguments);
    arguments.example("cellar deleteall shop orders user42", "the whole row")
        .example("cellar deleteall shop orders user42 c d:mail --ts now-7d --durability fsync_wal",
                 "a family and a column, except cells of the last week");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string row, for_argument("ROW", parse_bytes(row_)));
    int64_t timestamp = kNow;
    if (time_) {
      CELLAR_TRY_ASSIGN(timestamp, for_argument("--ts", parse_time(*time_)));
    }
    Delete erase(row, timestamp);
    for (const std::string& text : columns_) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("COLUMN", parse_column(text)));
      if (column.qualifier) {
        erase.column(column.family, *column.qualifier);
      } else {
        erase.family(column.family, std::optional<int64_t>());
      }
    }
    return erase_from_store(session, store_, table_, columns_, erase, write_.options());
  }

 private:
  std::string store_;
  std::string table_;
  std::string row_;
  std::vector<std::string> columns_;
  std::optional<std::string> time_;
  WriteChoice write_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_deleteall, "deleteall", DeleteAllCommand)

}  // namespace cellar
