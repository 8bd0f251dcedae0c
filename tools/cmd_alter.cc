// cellar alter: changes options of a family, or adds one.
#include <fmt/format.h>

#include "cellar/engine.h"
#include "tools/command.h"
#include "tools/family_operand.h"
#include "tools/store.h"

namespace cellar {
namespace {

class AlterCommand final : public Command {
 public:
  explicit AlterCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override { return "Change options of a family, or add a family"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operand("FAMILY[:option=value,…]", family_, "the family and what is to be different from now on")
        .note("Reads go by the new options at once, files when they are rewritten.")
        .example("cellar alter shop orders d:max_versions=5")
        .example("cellar alter shop orders notes:compression=gz");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    FamilyOptions family;
    bool known = false;
    for (const FamilyInfo& each : opened.table->info().families) {
      if (each.options.name != family_name(family_)) continue;
      family = each.options;
      known = true;
    }
    CELLAR_TRY(parse_family(family_, family));
    CELLAR_TRY(validate(family));
    CELLAR_TRY(opened.engine->alter_family(table_, family));
    CELLAR_TRY(opened.engine->close());
    session.talk(fmt::format("{} family {} of table {}", known ? "changed" : "added", family.name, table_));
    return {};
  }

 private:
  std::string store_;
  std::string table_;
  std::string family_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_alter, "alter", AlterCommand)

}  // namespace cellar
