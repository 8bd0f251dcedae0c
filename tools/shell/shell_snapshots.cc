// The shell's commands about named snapshots.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "tools/shell/shell_call.h"
#include "tools/store/snapshot_list.h"

namespace cellar {
namespace {

// The snapshots whose whole name matches the pattern at this position; without one, all of them.
Result<std::vector<CheckpointInfo>> matching(ShellCall& call, size_t position) {
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY_ASSIGN(std::vector<CheckpointInfo> all, store->named_snapshots().list());
  if (call.positions() <= position) return all;
  CELLAR_TRY_ASSIGN(const auto pattern, call.pattern(position));
  std::erase_if(all, [&](const CheckpointInfo& each) { return !RE2::FullMatch(each.name, *pattern); });
  return all;
}

// Returns the snapshots that match position 1 and hold a table whose whole name matches position 0.
Result<std::vector<CheckpointInfo>> of_table(ShellCall& call) {
  CELLAR_TRY_ASSIGN(const auto pattern, call.pattern(0));
  CELLAR_TRY_ASSIGN(std::vector<CheckpointInfo> all, matching(call, 1));
  std::erase_if(all, [&](const CheckpointInfo& each) {
    return std::ranges::none_of(each.tables,
                                [&](const std::string& table) { return RE2::FullMatch(table, *pattern); });
  });
  return all;
}

Status show(ShellCall& call, const std::vector<CheckpointInfo>& snapshots) {
  print_snapshots(call.session(), snapshots);
  if (call.session().format() == Format::kTable) call.session().talk(counted(snapshots.size(), "snapshot"));
  return {};
}

Status drop_all(ShellCall& call, const std::vector<CheckpointInfo>& snapshots) {
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const std::string question = fmt::format("drop {}?", counted(snapshots.size(), "snapshot"));
  if (!snapshots.empty() && !call.confirmed(question)) return {};
  for (const CheckpointInfo& each : snapshots) CELLAR_TRY(store->named_snapshots().drop(each.name));
  call.session().talk(fmt::format("dropped {}", counted(snapshots.size(), "snapshot")));
  return {};
}

constexpr std::array kIgnoredOptions = {
    IgnoredOption{"SKIP_FLUSH", "a snapshot always includes data in memory"},
    IgnoredOption{"TTL", "a snapshot stays until it is dropped"},
    IgnoredOption{"MAX_FILESIZE", "a table is not cut into regions by their size"},
};
constexpr std::array<std::string_view, 3> kSnapshotOptions = {"SKIP_FLUSH", "TTL", "MAX_FILESIZE"};

Status run_snapshot(ShellCall& call) {
  CELLAR_TRY(call.take(kSnapshotOptions, 2, 2));
  for (const IgnoredOption& option : kIgnoredOptions)
    if (call.has(option.name))
      call.session().talk(fmt::format("note   {} has no effect: {}", option.name, option.why));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, call.table());
  CELLAR_TRY_ASSIGN(const std::string name, call.text(1));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const Result<CheckpointInfo> made =
      call.watched([&] { return store->named_snapshots().create(name, {table->name()}); });
  if (!made.ok()) return call.at(call.position(1), made.status());
  call.session().talk(fmt::format("created snapshot {}: {}", name, size_text(*made)));
  return {};
}

Status run_list_snapshots(ShellCall& call) {
  CELLAR_TRY(call.take({}, 0, 1));
  CELLAR_TRY_ASSIGN(const std::vector<CheckpointInfo> found, matching(call, 0));
  return show(call, found);
}

Status run_list_table_snapshots(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 2));
  CELLAR_TRY_ASSIGN(const std::vector<CheckpointInfo> found, of_table(call));
  return show(call, found);
}

Status run_delete_snapshot(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const std::string name, call.text(0));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY(call.at(call.position(0), store->named_snapshots().drop(name)));
  call.session().talk(fmt::format("dropped snapshot {}", name));
  return {};
}

Status run_delete_all_snapshot(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 1));
  CELLAR_TRY_ASSIGN(const std::vector<CheckpointInfo> found, matching(call, 0));
  return drop_all(call, found);
}

Status run_delete_table_snapshots(ShellCall& call) {
  CELLAR_TRY(call.take({}, 1, 2));
  CELLAR_TRY_ASSIGN(const std::vector<CheckpointInfo> found, of_table(call));
  return drop_all(call, found);
}

// The one table that HBase's snapshots hold; of ours, the one that is named.
Result<std::string> table_in(ShellCall& call, Engine& store, const std::string& name, size_t position) {
  if (call.positions() > position) return call.table_name(call.position(position));
  CELLAR_TRY_ASSIGN(const std::vector<CheckpointInfo> all, store.named_snapshots().list());
  const auto found = std::ranges::find(all, name, &CheckpointInfo::name);
  if (found == all.end() || found->tables.size() == 1)
    return found == all.end() ? std::string() : found->tables.front();
  return call.fault(call.position(0),
                    fmt::format("the snapshot has {}", counted(found->tables.size(), "table")),
                    "name the one to clone as a third argument");
}

Status run_clone_snapshot(ShellCall& call) {
  constexpr std::array<std::string_view, 2> kOptions = {"RESTORE_ACL", "CLONE_SFT"};
  CELLAR_TRY(call.take(kOptions, 2, 3));
  CELLAR_TRY_ASSIGN(const std::string name, call.text(0));
  CELLAR_TRY_ASSIGN(const std::string table, call.table_name(call.position(1)));
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  CELLAR_TRY_ASSIGN(const std::string from, table_in(call, *store, name, 2));
  const auto clone = [&] { return store->named_snapshots().clone(name, from, table).status(); };
  CELLAR_TRY(call.at(call.position(0), call.watched(clone)));
  call.session().talk(fmt::format("created table {} from {} in snapshot {}", escaped(table), from, name));
  return {};
}

Status run_restore_snapshot(ShellCall& call) {
  constexpr std::array<std::string_view, 1> kOptions = {"RESTORE_ACL"};
  CELLAR_TRY(call.take(kOptions, 1, SIZE_MAX));
  CELLAR_TRY_ASSIGN(const std::string name, call.text(0));
  std::vector<std::string> tables;
  for (size_t i = 1; i < call.positions(); ++i) {
    CELLAR_TRY_ASSIGN(std::string table, call.table_name(call.position(i)));
    tables.push_back(std::move(table));
  }
  CELLAR_TRY_ASSIGN(Engine* const store, call.engine());
  const auto restore = [&] { return store->named_snapshots().restore(name, tables); };
  CELLAR_TRY(call.at(call.position(0), call.watched(restore)));
  call.session().talk(fmt::format("restored {} of snapshot {}",
                                  tables.empty() ? "all tables" : counted(tables.size(), "table"), name));
  return {};
}

constexpr std::array kSnapshotVerbs = {
    ShellVerb{"snapshot",
              "snapshot 't', 'name'\nsnapshot 'orders', 'before'\nsnapshot orders before_the_sale",
              "Create a snapshot of a table", run_snapshot, kSnapshotOptions},
    ShellVerb{"list_snapshots", "list_snapshots ['pattern']\nlist_snapshots 'bef.*'\nlist_snapshots",
              "List the snapshots whose whole name matches", run_list_snapshots},
    ShellVerb{"list_table_snapshots",
              "list_table_snapshots 'tables'[, 'pattern']\nlist_table_snapshots "
              "'orders'\nlist_table_snapshots 'ord.*', 'bef.*'",
              "List the snapshots that hold a matching table", run_list_table_snapshots},
    ShellVerb{"clone_snapshot",
              "clone_snapshot 'name', 'new'[, 't']\nclone_snapshot 'before', 'old_orders'\nclone_snapshot "
              "'before', 'old_orders', 'orders'",
              "Create a table from one in a snapshot", run_clone_snapshot},
    ShellVerb{
        "restore_snapshot",
        "restore_snapshot 'name'[, 't', …]\nrestore_snapshot 'before'\nrestore_snapshot 'before', 'orders'",
        "Restore tables from a snapshot", run_restore_snapshot},
    ShellVerb{"delete_snapshot",
              "delete_snapshot 'name'\ndelete_snapshot 'before'\nrestore_snapshot 'before'; delete_snapshot "
              "'before'",
              "Drop a snapshot", run_delete_snapshot},
    ShellVerb{"delete_all_snapshot",
              "delete_all_snapshot 'pattern'\ndelete_all_snapshot 'bef.*'\ndelete_all_snapshot '.*'",
              "Drop the snapshots whose whole name matches", run_delete_all_snapshot},
    ShellVerb{"delete_table_snapshots",
              "delete_table_snapshots 'tables'[, 'pattern']\ndelete_table_snapshots "
              "'orders'\ndelete_table_snapshots 'ord.*', 'bef.*'",
              "Drop the snapshots that hold a matching table", run_delete_table_snapshots},
};

}  // namespace

std::span<const ShellVerb> shell_snapshot_verbs() { return kSnapshotVerbs; }

}  // namespace cellar
