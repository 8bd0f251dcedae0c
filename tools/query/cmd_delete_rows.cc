// cellar delete-rows: hides all rows of a range, or families and columns of them.
#include <fmt/format.h>

#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/query/scan_options.h"
#include "tools/store/store.h"
#include "tools/store/write_choice.h"

namespace cellar {
namespace {

class DeleteRowsCommand final : public Command {
 public:
  explicit DeleteRowsCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Delete all rows of a range, or whole families and columns of them";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operands("COLUMN", columns_, "family, or family:qualifier; default: the whole rows", false);
    range_.declare_range(arguments);
    arguments.option_if("--ts", time_, "TIME", "only cells up to this timestamp; default: now");
    write_.declare(arguments);
    arguments
        .note(
            "Each row gets markers of its own, as files of HBase know no others. Rows are deleted in groups, "
            "and\n"
            "not at one instant. `cellar count` with the same range tells how many they are.")
        .example("cellar delete-rows shop orders --prefix user4", "all rows that begin with user4")
        .example("cellar delete-rows shop orders c --start user41 --stop user43 --ts now-7d",
                 "a family, except cells of the last week")
        .more_example(
            "cellar delete-rows shop orders --start user41 --start-exclusive --stop user43 --stop-inclusive "
            "\\\n      --durability fsync_wal",
            "after user41, up to and including user43, durable at a loss of power");
  }

  Status run(Session& session) override {
    Scan scan;
    CELLAR_TRY(range_.apply(scan));
    if (range_.prefix.empty() && range_.start.empty() && range_.stop.empty())
      return Status::invalid_argument("no range is given, which means every row")
          .hinting("--prefix, --start or --stop give one; cellar truncate empties a table");
    if (time_) {
      CELLAR_TRY_ASSIGN(const int64_t time, for_argument("--ts", parse_time(*time_)));
      scan.time_range(0, time + 1);
    }
    for (const std::string& text : columns_) {
      CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("COLUMN", parse_column(text)));
      if (column.qualifier)
        scan.column(column.family, *column.qualifier);
      else
        scan.family(column.family);
    }
    scan.fill_cache(false);
    tell_of_empty_range(session, scan);
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    CELLAR_TRY(check_columns(session, *opened.table, columns_));
    CELLAR_TRY(erase(session, *opened.table, scan));
    return opened.engine->close();
  }

 private:
  Status erase(Session& session, Table& table, const Scan& scan) {
    Progress progress(session, "deleting");
    uint64_t rows = 0;
    const auto on_way = [&](uint64_t done) {
      progress.show({.cells = rows = done});
      return !interrupted();
    };
    const Result<uint64_t> deleted = table.erase_rows(scan, on_way, write_.options());
    if (interrupted()) return interrupted_status(counted(rows, "row") + " were deleted");
    CELLAR_TRY(deleted);
    session.talk("deleted " + counted(rows, "row"));
    return {};
  }

  std::string store_;
  std::string table_;
  std::vector<std::string> columns_;
  ScanOptions range_;
  std::optional<std::string> time_;
  WriteChoice write_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_query_cmd_delete_rows, "delete-rows", DeleteRowsCommand)

}  // namespace cellar
