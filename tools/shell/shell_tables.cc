// The shell's commands about tables: create, alter, describe, drop, flush, compact, and the questions about
// them.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "cellar/plugin.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/shell/shell_call.h"
#include "tools/shell/shell_schema.h"
#include "tools/store/store.h"
#include "tools/store/store_reports.h"

namespace cellar {
namespace {

Status unknown_on_cluster() {
  return Status::not_supported("Cellar does not ask a cluster which of its tables are enabled")
      .hinting("use HBase's own shell");
}

Status run_list(ShellCall& call) {
  const bool by_pattern = call.statement().name == "list";
  CELLAR_TRY(call.take({}, 0, by_pattern ? 1 : 0));
  if (!by_pattern && call.on_cluster()) return unknown_on_cluster();
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  std::vector<std::string> names = store->list_tables();
  if (call.statement().name == "list_disabled_tables") names.clear();
  if (call.positions() == 1) {
    CELLAR_TRY_ASSIGN(const auto pattern, call.pattern(0));
    std::erase_if(names, [&](const std::string& name) { return !RE2::FullMatch(name, *pattern); });
  }
  CELLAR_TRY(print_table_list(call.session(), *store, names));
  if (call.session().format() == Format::kTable) call.session().talk(counted(names.size(), "table"));
  return {};
}

Result<bool> table_exists(ShellCall& call) {
  CELLAR_TRY_ASSIGN(const std::string name, call.table_name(call.position(0)));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const std::vector<std::string> names = store->list_tables();
  return std::ranges::find(names, name) != names.end();
}

Status run_exists(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const bool there, table_exists(call));
  const std::string name = escaped(call.position(0).text);
  call.answer_flag(fmt::format("table {} {}", name, there ? "exists" : "does not exist"), "exists", there);
  return {};
}

Status run_drop(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(std::shared_ptr<Table> table, call.table());
  const std::string name = table->name();
  table.reset();
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY(store->drop_table(name));
  call.session().talk(fmt::format("dropped table {}", escaped(name)));
  return {};
}

Status run_truncate(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY(store->truncate_table(table->name()));
  call.session().talk(fmt::format("emptied table {}", escaped(table->name())));
  return {};
}

Status run_disable(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY(call.table().status());
  call.session().talk(
      call.on_cluster()
          ? "note   nothing was done: Cellar itself disables a table of a cluster where a change needs that"
          : "note   nothing to do: a table of a store is always enabled; it can be altered and dropped");
  return {};
}

Status run_is_enabled(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY(call.table().status());
  if (call.on_cluster()) return unknown_on_cluster();
  const bool answer = call.statement().name == "is_enabled";
  call.answer_flag(answer ? "true" : "false", call.statement().name, answer);
  return {};
}

Status run_flush(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 2));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const Progress clock(call.session(), "flush", 0);
  if (call.positions() == 0) {
    CELLAR_TRY(call.watched([&] { return store->flush(); }));
  } else {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
    std::vector<std::string> families;  // none: all
    if (call.positions() == 2 && !call.position(1).is_word("nil")) {
      CELLAR_TRY_ASSIGN(families, call.texts_of(call.position(1)));
    }
    for (const std::string& family : families)
      CELLAR_TRY(call.at(call.position(1), check_family(call.session(), *table, family)));
    for (const std::string& family : families) CELLAR_TRY(call.watched([&] { return table->flush(family); }));
    if (families.empty()) CELLAR_TRY(call.watched([&] { return table->flush(); }));
  }
  if (call.on_cluster()) return call.session().talk("flushed"), Status();
  const EngineStatus status = store->status();
  call.session().talk(fmt::format("flushed: the store has {} of {}",
                                  counted(status.store_files, "store file"),
                                  human_bytes(status.store_bytes)));
  return {};
}

Status run_compact(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 3));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  const bool major = call.statement().name == "major_compact";
  std::string family;  // empty: every family
  if (call.positions() > 1 && !call.position(1).is_word("nil")) {
    CELLAR_TRY_ASSIGN(family, call.text(1));
    CELLAR_TRY(call.at(call.position(1), check_family(call.session(), *table, family)));
  }
  if (call.positions() > 2) {
    CELLAR_TRY_ASSIGN(const std::string type, call.text(2));
    if (type == "MOB")
      return call.at(call.position(2), Status::not_supported("a store has no MOB files")
                                           .hinting("leave it out to compact all files of the family"));
    if (type != "NORMAL") return call.fault(call.position(2), "expected NORMAL, or nothing");
  }
  CELLAR_TRY(call.watched([&] { return major ? table->major_compact(family) : table->compact(family); }));
  if (call.on_cluster()) return call.session().talk("compacted"), Status();
  size_t files = 0;
  for (const FamilyInfo& each : table->info().families)
    if (family.empty() || each.options.name == family) files += each.files.size();
  call.session().talk(fmt::format("compacted: {} now; data in memory was not compacted (flush writes it)",
                                  counted(files, "store file")));
  return {};
}

constexpr std::array kTableVerbs = {
    ShellVerb{"create",
              "create 't', 'f', …, {NAME => 'f', ATTRIBUTE => value, …}, …\n"
              "create 'visits', 'c', 'd'\n"
              "create 'people', {NAME => 'd', VERSIONS => 5, TTL => 2592000, COMPRESSION => 'GZ'}\n"
              "create 'hashes', 'c', NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'",
              "Create a table, and the store if it does not exist", run_create},
    ShellVerb{"alter",
              "alter 't', {NAME => 'f', ATTRIBUTE => value, …}, …\n"
              "alter 'orders', NAME => 'd', VERSIONS => 5\n"
              "alter 'orders', 'notes', {NAME => 'd', BLOOMFILTER => 'ROWCOL'}\n"
              "alter 'orders', {NAME => 'notes', METHOD => 'delete'}, DURABILITY => 'FSYNC_WAL'",
              "Add, change and remove families and set table options, atomically", run_alter},
    ShellVerb{"alter_async",
              "alter_async 't', {NAME => 'f', ATTRIBUTE => value, …}, …\n"
              "alter_async 'orders', NAME => 'd', VERSIONS => 5\nalter_async 'orders', {NAME => 'd', TTL => "
              "86400}, 'notes'",
              "The same as alter, which returns when it is done", run_alter},
    ShellVerb{"describe", "describe 't'\ndescribe 'orders'\ndescribe orders",
              "A table's families, as create takes them", run_describe},
    ShellVerb{"desc", "desc 't'\ndesc 'orders'\ndesc orders", "The same as describe", run_describe},
    ShellVerb{"list", "list ['pattern']\nlist 'ord.*'\nlist", "Tables, those whose whole name matches",
              run_list},
    ShellVerb{"exists", "exists 't'\nexists 'orders'\nexists orders", "Print whether the table exists",
              run_exists},
    ShellVerb{"drop", "drop 't'\ndrop 'orders'\ndisable 'orders'; drop 'orders'",
              "Drop a table with all its data; this cannot be undone", run_drop},
    ShellVerb{"truncate", "truncate 't'\ntruncate 'orders'\nsnapshot 'orders', 'full'; truncate 'orders'",
              "Remove all rows, at once and for good", run_truncate},
    ShellVerb{"truncate_preserve",
              "truncate_preserve 't'\ntruncate_preserve 'orders'\ntruncate_preserve orders",
              "The same as truncate", run_truncate},
    ShellVerb{"disable",
              "disable 't'\ndisable 'orders'\ndisable 'orders'; alter 'orders', NAME => 'd', VERSIONS => 5; "
              "enable 'orders'",
              "Do nothing: a table of a store is always enabled", run_disable},
    ShellVerb{"enable", "enable 't'\nenable 'orders'\ndisable 'orders'; enable 'orders'",
              "Do nothing: a table of a store is always enabled", run_disable},
    ShellVerb{"is_enabled", "is_enabled 't'\nis_enabled 'orders'\nis_enabled orders",
              "Print true: every table is enabled", run_is_enabled},
    ShellVerb{"is_disabled", "is_disabled 't'\nis_disabled 'orders'\nis_disabled orders",
              "Print false: no table is disabled", run_is_enabled},
    ShellVerb{"list_enabled_tables",
              "list_enabled_tables\nlist_enabled_tables\nlist_enabled_tables; list_disabled_tables",
              "List all tables", run_list},
    ShellVerb{"list_disabled_tables",
              "list_disabled_tables\nlist_disabled_tables\nlist_disabled_tables; list_enabled_tables",
              "List no tables: all are enabled", run_list},
    ShellVerb{"flush", "flush ['t'[, 'f']]\nflush 'orders'\nflush 'orders', 'd'",
              "Flush memtables to store files", run_flush},
    ShellVerb{"compact", "compact 't'[, 'f'[, 'NORMAL']]\ncompact 'orders'\ncompact 'orders', 'd'",
              "Compact the store files that the policy picks", run_compact},
    ShellVerb{"major_compact",
              "major_compact 't'[, 'f'[, 'NORMAL']]\nmajor_compact 'orders', 'd'\nmajor_compact 'orders'",
              "Compact all files of a family into one; drops deleted, expired and superseded cells",
              run_compact},
};

}  // namespace

std::span<const ShellVerb> shell_table_verbs() { return kTableVerbs; }

}  // namespace cellar
