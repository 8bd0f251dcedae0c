// cellar delete: hides one version, or all versions, of columns.
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/store.h"
#include "tools/store/write_choice.h"

namespace cellar {
namespace {

class DeleteCommand final : public Command {
 public:
  explicit DeleteCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Delete the newest version of columns, a given version, or all versions";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("ROW", row_, "row key; \\xHH stands for a byte")
        .operands("COLUMN", columns_, "family:qualifier", true)
        .option_if("--ts", time_, "TIME",
                   "the version with this timestamp; with --all-versions: versions up to it")
        .flag("--all-versions", all_versions_, "all versions of the column");
    write_.declare(arguments);
    arguments.note("cellar deleteall deletes whole rows and families.")
        .example("cellar delete shop orders user42 d:mail",
                 "the newest version; reads then return the version before it")
        .example("cellar delete shop orders user42 d:mail d:name --all-versions --durability fsync_wal",
                 "all versions of two columns, on the disk before the command ends")
        .more_example("cellar delete shop orders user42 d:name --ts 1970-01-01T00:00:02.000Z",
                      "one version, by the timestamp that scan prints");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::string row, for_argument("ROW", parse_bytes(row_)));
    std::optional<int64_t> timestamp;
    if (time_) {
      CELLAR_TRY_ASSIGN(timestamp, for_argument("--ts", parse_time(*time_)));
    }
    Delete erase(row);
    for (const std::string& text : columns_) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("COLUMN", parse_one_column(text)));
      if (all_versions_) {
        erase.column(column.family, *column.qualifier, timestamp);
      } else if (timestamp) {
        erase.version(column.family, *column.qualifier, *timestamp);
      } else {
        erase.latest_version(column.family, *column.qualifier);
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
  bool all_versions_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_delete, "delete", DeleteCommand)

}  // namespace cellar
