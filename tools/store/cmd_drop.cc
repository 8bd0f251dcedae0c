// cellar drop: removes a table and its data.
#include <fmt/format.h>

#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class DropCommand final : public Command {
 public:
  explicit DropCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Drop a table with all its data; this cannot be undone";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .example("cellar drop shop orders", "the table and its files")
        .example("cellar drop --quiet shop orders", "the same in a script that prints only errors");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    opened.table.reset();
    CELLAR_TRY(opened.engine->drop_table(table_));
    CELLAR_TRY(opened.engine->close());
    session.talk(fmt::format("dropped table {}", table_));
    return {};
  }

 private:
  std::string store_;
  std::string table_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_drop, "drop", DropCommand)

}  // namespace cellar
