// EngineImpl: named snapshots, checkpoints, and tables that get another content as a whole.
#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/engine_impl.h"
#include "engine/jobs/checkpoint_job.h"
#include "engine/jobs/named_snapshot_files.h"
#include "engine/jobs/table_replacement.h"
#include "engine/schema/names.h"
#include "engine/store/file_copy.h"
#include "engine/store/table_state.h"
#include "engine/write/write_path.h"

namespace cellar {
namespace {

// The tables of these names; all where none is named.
Result<std::vector<TableRecord>> tables_of(const ManifestState& state, const std::string& snapshot,
                                           const std::vector<std::string>& names) {
  if (names.empty()) return state.tables;
  std::vector<TableRecord> chosen;
  for (const std::string& name : names) {
    const TableRecord* const table = state.table_named(name);
    if (table == nullptr) {
      std::vector<std::string> known;
      for (const TableRecord& each : state.tables) known.push_back(each.name);
      return Status::not_found("snapshot " + snapshot + " has no table \"" + escaped(name) + "\"")
          .hinting(nearest_hint(name, known));
    }
    if (std::ranges::find(chosen, table->id, &TableRecord::id) == chosen.end()) chosen.push_back(*table);
  }
  CELLAR_ASSERT(!chosen.empty());
  return chosen;
}

}  // namespace

Result<CheckpointInfo> NamedSnapshotsImpl::create(const std::string& name,
                                                  const std::vector<std::string>& tables) {
  CELLAR_TRY(engine_.check_writable());
  return NamedSnapshotFiles(parts_.world, parts_.disk).create(parts_.checkpoint_source, name, tables);
}

Result<std::vector<CheckpointInfo>> NamedSnapshotsImpl::list() {
  CELLAR_TRY(parts_.life.check_open());
  return NamedSnapshotFiles(parts_.world, parts_.disk).list();
}

Status NamedSnapshotsImpl::drop(const std::string& name) {
  CELLAR_TRY(engine_.check_writable());
  return NamedSnapshotFiles(parts_.world, parts_.disk).drop(name);
}

Result<std::unique_ptr<Engine>> NamedSnapshotsImpl::open(const std::string& name) {
  CELLAR_TRY(parts_.life.check_open());
  const NamedSnapshotFiles snapshots(parts_.world, parts_.disk);
  CELLAR_TRY(snapshots.open(name).status());  // an unknown name fails with the nearest as the hint
  EngineOptions options = parts_.world.options;
  options.read_only = true;
  options.create_if_missing = false;
  options.error_if_exists = false;
  options.without_files.clear();         // a snapshot has names of its own
  options.environment.events = nullptr;  // who listens, listens to this engine
  // So are its files.
  options.totals_series = options.block_trace = options.operation_trace = options.metrics_file = {};
  return Engine::open(snapshots.path_of(name), options);
}

Status NamedSnapshotsImpl::restore(const std::string& name, const std::vector<std::string>& tables) {
  CELLAR_TRY(engine_.check_writable());
  CELLAR_TRY_ASSIGN(const OpenCheckpoint snapshot, NamedSnapshotFiles(parts_.world, parts_.disk).open(name));
  CELLAR_TRY_ASSIGN(std::vector<TableRecord> content, tables_of(snapshot.state, name, tables));
  return parts_.write_path.alone([&]() -> Status {
    CELLAR_TRY(parts_.second_tables.check_restore(content).with_context("restoring snapshot " + name));
    return TableReplacement(parts_.work, parts_.catalog, parts_.background, std::move(content),
                            snapshot.directory.get(), snapshot.state.last_sequence)
        .run()
        .with_context("restoring snapshot " + name);
  });
}

Result<std::shared_ptr<Table>> NamedSnapshotsImpl::clone(const std::string& name, const std::string& from,
                                                         const std::string& table) {
  CELLAR_TRY(engine_.check_writable());
  CELLAR_TRY(check_table_name(table));
  CELLAR_TRY_ASSIGN(const OpenCheckpoint snapshot, NamedSnapshotFiles(parts_.world, parts_.disk).open(name));
  CELLAR_TRY_ASSIGN(std::vector<TableRecord> content, tables_of(snapshot.state, name, {from}));
  content.front().name = table;
  CELLAR_ASSERT(content.size() == 1);
  CELLAR_TRY(parts_.write_path.alone([&]() -> Status {
    if (parts_.catalog.lookup(table) != nullptr)
      return Status::invalid_argument("table " + table + " already exists");
    return TableReplacement(parts_.work, parts_.catalog, parts_.background, std::move(content),
                            snapshot.directory.get(), snapshot.state.last_sequence)
        .run()
        .with_context("cloning from snapshot " + name);
  }));
  return engine_.open_table(table);
}

Status EngineImpl::truncate_table(const std::string& name) {
  CELLAR_TRY(check_writable());
  CELLAR_TRY(open_table(name).status());
  return parts_->write_path.alone([&] { return truncate_now(name); });
}

Status EngineImpl::truncate_now(const std::string& name) {
  const ManifestState state = parts_->disk.manifest->state();
  const TableRecord* const known = state.table_named(name);
  if (known == nullptr) return Status::not_found("table " + name + " was dropped");
  CELLAR_TRY(parts_->second_tables.check_truncate(name));
  std::vector<TableRecord> emptied = {*known};
  for (const std::string& second : parts_->second_tables.of(name))
    emptied.push_back(*state.table_named(second));
  for (TableRecord& table : emptied)
    for (FamilyRecord& family : table.families) family.files.clear();
  return TableReplacement(parts_->work, parts_->catalog, parts_->background, std::move(emptied), nullptr, 0)
      .run();
}

Result<CheckpointInfo> EngineImpl::checkpoint(const std::string& path, const std::string& base) {
  CELLAR_TRY(check_not_in_observer());  // it waits for the writers
  CELLAR_TRY(parts_->life.check_open());
  OpenCheckpoint earlier;
  if (!base.empty()) {
    CELLAR_TRY_ASSIGN(earlier, open_base(parts_->world, base, parts_->disk.identity));
  }
  const auto [parent_path, name] = split_path(path);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> parent,
                    parts_->world.files.open_directory(parent_path, false));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> into, parts_->world.files.open_directory(path, true));
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, into->list());
  if (!entries.empty())
    return Status::invalid_argument("the target of a checkpoint must be a new or empty directory").at(path);
  auto made = CheckpointJob(parts_->checkpoint_source, {}, {}, std::move(earlier)).run(*into);
  // The name of the directory has been durable since it was opened.
  const Status status = made.status();
  if (!status.ok()) {
    static_cast<void>(into->unlink(kCurrentName).ok());
    static_cast<void>(remove_tree(*parent, name).ok());
    return status.with_context("checkpoint").at(path);
  }
  made->path = path;
  return made;
}

}  // namespace cellar
