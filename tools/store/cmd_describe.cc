// cellar describe: tables, families, options and files.
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/store/schema_text.h"
#include "tools/store/store.h"
#include "tools/store/store_reports.h"

namespace cellar {
namespace {

class DescribeCommand final : public Command {
 public:
  explicit DescribeCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Print the families of tables, their options and files";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .optional_operand("TABLE", table_, "one table; default: all tables")
        .flag("--files", files_, "list each store file with its first and last row (always in JSON)")
        .choice("--as", as_, {"description", "create"},
                "create: print `cellar shell` statements that create the tables")
        .formats({"table", "json", "jsonl"})
        .example("cellar describe shop orders", "the families and their options")
        .example("cellar describe shop orders --files", "the store files, and the first and last row of each")
        .example("cellar describe shop orders --as create",
                 "the statement that creates such a table, for a shell");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_engine(session, store_, OpenFor::kLooking));
    std::vector<std::string> names = engine->list_tables();
    if (!table_.empty()) names = {table_};
    std::vector<TableInfo> tables;
    std::vector<uint64_t> regions;
    std::string text;
    for (const std::string& name : names) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(session, *engine, store_, name));
      tables.push_back(table->info());
      if (is_cluster(store_) && as_ != "create") {
        CELLAR_TRY_ASSIGN(const std::vector<std::string> starts, table->region_starts());
        regions.push_back(starts.size());
      }
      text += as_ == "create"
                  ? "create " + create_arguments(name, tables.back().options)
                  : (text.empty() ? "" : "\n") +
                        description_text(tables.back(), files_, regions.empty() ? 0 : regions.back());
    }
    session.out().write(
        session.format() == Format::kTable ? text : description_json(tables, session.format(), regions));
    return engine->close();
  }

 private:
  std::string store_;
  std::string table_;
  bool files_ = false;
  std::string as_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_describe, "describe", DescribeCommand)

}  // namespace cellar
