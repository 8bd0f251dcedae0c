// cellar alter: adds, changes and removes families, and sets options of a table, atomically.
#include <fmt/format.h>

#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/store/family_operand.h"
#include "tools/store/schema_text.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class AlterCommand final : public Command {
 public:
  explicit AlterCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Add, change and remove families and set table options, atomically";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .operand("TABLE", table_, "name of the table")
        .operands("FAMILY[:option=value,…]", families_,
                  "families and their new options; unknown families are added", false)
        .option_list("--remove", removed_, "FAMILY", "remove this family with all its cells; may be repeated")
        .option_list("--set", set_, "OPTION=VALUE",
                     "table option: read_only, compaction_enabled, memtable_bytes, durability, …")
        .note(
            "The changes are atomic. Reads use the new options at once, files when they are "
            "rewritten.")
        .example("cellar alter shop orders d:max_versions=5", "keep up to five versions in family d")
        .example("cellar alter shop orders notes:compression=gz d:ttl_s=30d --remove c",
                 "add a family, let cells of d expire after 30 days, and remove family c")
        .example("cellar alter shop orders --set read_only=true", "refuse writes to the table");
  }

  Status run(Session& session) override {
    if (families_.empty() && removed_.empty() && set_.empty())
      return session.name_failure("CEL-USAGE", Exit::kUsage,
                                  Status::invalid_argument("the command names no change")
                                      .hinting("name a family, --remove FAMILY or --set OPTION=VALUE"));
    CELLAR_TRY_ASSIGN(const OpenedTable opened, open_store_table(session, store_, table_, OpenFor::kWriting));
    const TableOptions before = opened.table->info().options;
    TableOptions after = before;
    after.families.clear();
    std::vector<Status> faults;
    for (const std::string& text : families_) {
      FamilyOptions& family = after.families.emplace_back();
      if (const FamilyOptions* known = find_family(before, std::string(family_name(text)))) family = *known;
      faults.push_back(parse_family(text, family));
    }
    faults.push_back(set_table_options(after, set_));
    CELLAR_TRY(all_faults(faults));
    const TableChange change = change_of(before, after, removed_);
    CELLAR_TRY(opened.engine->alter_table(table_, change));
    CELLAR_TRY(opened.engine->close());
    tell_carried(session, before, after);
    tell_families(session, table_, before, change);
    for (const std::string& option : set_) session.talk(fmt::format("set {} of table {}", option, table_));
    return {};
  }

 private:
  std::string store_;
  std::string table_;
  std::vector<std::string> families_;
  std::vector<std::string> removed_;
  std::vector<std::string> set_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_alter, "alter", AlterCommand)

}  // namespace cellar
