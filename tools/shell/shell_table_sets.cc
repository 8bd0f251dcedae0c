// The shell's commands about all tables whose name matches, and about a table's schema as a whole.
#include <fmt/format.h>
#include <re2/re2.h>

#include <array>

#include "base/bytes.h"
#include "tools/frame/output.h"
#include "tools/shell/shell_call.h"

namespace cellar {
namespace {

// The tables whose whole name matches position 0.
Result<std::vector<std::string>> matching_tables(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const auto pattern, call.pattern(0));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  std::vector<std::string> names = store->list_tables();
  std::erase_if(names, [&](const std::string& name) { return !RE2::FullMatch(name, *pattern); });
  return names;
}

// "3 tables: a, b, c"; of many only the first.
std::string named(const std::vector<std::string>& names) {
  constexpr size_t kShown = 10;
  std::string text = counted(names.size(), "table");
  for (size_t i = 0; i < names.size() && i < kShown; ++i) text += (i == 0 ? ": " : ", ") + escaped(names[i]);
  return names.size() > kShown ? text + ", …" : text;
}

Status run_drop_all(ShellCall& call) {
  CELLAR_TRY_ASSIGN(const std::vector<std::string> names, matching_tables(call));
  if (!names.empty() && !call.confirmed(fmt::format("drop {}, with all their data?", named(names))))
    return {};
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  for (const std::string& name : names)
    CELLAR_TRY(store->drop_table(name).with_context("table " + escaped(name)));
  call.session().talk("dropped " + named(names));
  return {};
}

Status run_disable_all(ShellCall& call) {
  CELLAR_TRY_ASSIGN(const std::vector<std::string> names, matching_tables(call));
  call.session().talk(
      call.on_cluster()
          ? fmt::format("note   nothing was done for {}: Cellar itself disables a table of a cluster where a "
                        "change needs that",
                        named(names))
          : fmt::format("note   nothing to do for {}; a table of a store is always enabled", named(names)));
  return {};
}

Status run_clone_table_schema(ShellCall& call) {
  CELLAR_TRY(call.take({}, 2, 3));
  CELLAR_TRY_ASSIGN(const std::string name, call.table_name(call.position(1)));
  if (call.positions() == 3) {
    CELLAR_TRY(call.flag_of(call.position(2)).status());
    call.session().talk("note   keeping splits has no effect: a table of a store has none");
  }
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  const TableOptions options = table->info().options;
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY(call.at(call.position(1), store->create_table(name, options).status()));
  call.session().talk(fmt::format("created table {} with {} of table {}", escaped(name),
                                  options.families.size() == 1 ? "the family" : "the families",
                                  escaped(table->name())));
  return {};
}

Status run_alter_status(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY(call.table().status());
  call.answer("done: a change is active when alter returns; files use it after their next compaction",
              "alter_status", "done");
  return {};
}

constexpr std::array kTableSetVerbs = {
    ShellVerb{"drop_all", "drop_all 'pattern'\ndrop_all 'tmp_.*'\ndrop_all '.*_copy'",
              "Drop the tables whose whole name matches; asks at a terminal", run_drop_all},
    ShellVerb{"disable_all",
              "disable_all 'pattern'\ndisable_all 'ord.*'\ndisable_all 'tmp_.*'; drop_all 'tmp_.*'",
              "Do nothing: a table of a store is always enabled", run_disable_all},
    ShellVerb{"enable_all", "enable_all 'pattern'\nenable_all 'ord.*'\nenable_all '.*'",
              "Do nothing: a table of a store is always enabled", run_disable_all},
    ShellVerb{"clone_table_schema",
              "clone_table_schema 't', 'new'\nclone_table_schema 'orders', 'orders2'\nclone_table_schema "
              "orders orders_of_test",
              "Create an empty table with the families of another", run_clone_table_schema},
    ShellVerb{"alter_status",
              "alter_status 't'\nalter_status 'orders'\nalter 'orders', NAME => 'd', TTL => 86400; "
              "alter_status 'orders'",
              "Print whether alter is done: it always is when it returns", run_alter_status},
};

}  // namespace

std::span<const ShellVerb> shell_table_set_verbs() { return kTableSetVerbs; }

}  // namespace cellar
