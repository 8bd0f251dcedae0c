// cellar truncate: empties a table.
#include <fmt/format.h>

#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class TruncateCommand final : public Command {
 public:
  explicit TruncateCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Remove all rows of a table; its families stay; this cannot be undone";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .example("cellar truncate shop orders", "an empty table with the same families")
        .example("cellar truncate --quiet shop orders", "the same in a script that prints only errors");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    CELLAR_TRY(opened.engine->truncate_table(table_));
    CELLAR_TRY(opened.close());
    session.talk(fmt::format("emptied table {}", table_));
    return {};
  }

 private:
  std::string store_;
  std::string table_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_truncate, "truncate", TruncateCommand)

}  // namespace cellar
