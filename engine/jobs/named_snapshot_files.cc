// NamedSnapshotFiles: names, locks, and leftovers; the content is CheckpointJob's.
#include "engine/jobs/named_snapshot_files.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/schema/names.h"
#include "engine/store/file_copy.h"

namespace cellar {
namespace {

Result<bool> is_whole(Directory& snapshot) {
  const Status current = snapshot.open(kCurrentName).status();
  if (current.ok()) return true;
  if (current.is(Code::kNotFound)) return false;
  return current;
}

// First the file that makes it one: a crash after that leaves a leftover, which the next open sweeps. So does
// the loss of the removals that follow.
Status remove(Directory& snapshots, Directory& snapshot, const std::string& name) {
  CELLAR_ASSERT(!name.empty());  // or all snapshots would be removed
  if (const Status gone = snapshot.unlink(kCurrentName); !gone.ok() && !gone.is(Code::kNotFound)) return gone;
  CELLAR_TRY(snapshot.sync());
  return remove_tree(snapshots, name);
}

}  // namespace

std::string NamedSnapshotFiles::path_of(const std::string& name) const {
  CELLAR_ASSERT(!name.empty() && name.find('/') == std::string::npos);
  return world_.path + "/" + std::string(kSnapshotsDirectoryName) + "/" + name;
}

Result<std::unique_ptr<Directory>> NamedSnapshotFiles::snapshots(bool create) const {
  return disk_.root->directory(kSnapshotsDirectoryName, create);
}

Status NamedSnapshotFiles::unknown(const std::string& name) const {
  std::vector<std::string> names;
  if (const auto known = list(); known.ok())
    for (const CheckpointInfo& each : *known) names.push_back(each.name);
  return Status::not_found("store " + world_.path + " has no snapshot \"" + escaped(name) + "\"")
      .hinting(nearest_hint(name, names));
}

Result<CheckpointInfo> NamedSnapshotFiles::create(const CheckpointSource& source, const std::string& name,
                                                  const std::vector<std::string>& tables) {
  CELLAR_TRY(check_name("snapshot", name));
  const uint64_t failures = disk_.names.failures();  // before a name is made
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> parent, snapshots(true));
  if (const Status synced = disk_.sync_root(); !synced.ok()) {
    // If it is new, its name may be lost. A later attempt makes another one.
    static_cast<void>(disk_.root->remove_directory(kSnapshotsDirectoryName).ok());
    return synced;
  }
  CheckpointInfo info;
  CELLAR_TRY(fill(source, *parent, name, tables, info).with_context("snapshot " + name));
  info.name = name;
  const Status synced = disk_.names.sync(
      failures, [&] { return parent->sync().with_context("syncing the directory of snapshots"); });
  if (synced.ok()) return info;
  static_cast<void>(drop(name).ok());  // else a snapshot that may be lost
  return synced;
}

Status NamedSnapshotFiles::fill(const CheckpointSource& source, Directory& snapshots, const std::string& name,
                                const std::vector<std::string>& tables, CheckpointInfo& info) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> snapshot, snapshots.directory(name, true));
  CELLAR_TRY_ASSIGN(std::unique_ptr<FileLock> lock, snapshot->lock(kLockName));
  CELLAR_TRY_ASSIGN(const bool taken, is_whole(*snapshot));
  if (taken) return Status::invalid_argument("it exists already").hinting("drop it first to create it again");
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, snapshot->list());
  if (entries.size() > 1) {  // more than the lock: of a creation that a crash ended
    lock.reset();
    CELLAR_TRY(remove_tree(snapshots, name));
    CELLAR_TRY_ASSIGN(snapshot, snapshots.directory(name, true));
    CELLAR_TRY_ASSIGN(lock, snapshot->lock(kLockName));
  }
  CELLAR_ASSERT(lock != nullptr);
  auto made = CheckpointJob(source, tables, name).run(*snapshot);
  if (!made.ok()) {
    static_cast<void>(remove(snapshots, *snapshot, name).ok());  // else a leftover
    return made.status();
  }
  info = std::move(*made);
  return {};
}

Result<std::vector<CheckpointInfo>> NamedSnapshotFiles::list() const {
  std::vector<CheckpointInfo> found;
  const auto parent = snapshots(false);
  if (parent.status().is(Code::kNotFound)) return found;
  CELLAR_TRY(parent.status());
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, (*parent)->list());
  for (const DirectoryEntry& entry : entries) {
    if (!entry.is_directory) continue;
    const auto opened = open(entry.name);
    if (opened.status().is(Code::kNotFound)) continue;  // dropped meanwhile, or never whole
    CheckpointInfo& info = found.emplace_back();
    if (opened.ok()) info = describe_checkpoint(opened->state, path_of(entry.name));
    info.name = entry.name;
    info.status = opened.status();
  }
  return found;
}

Result<OpenCheckpoint> NamedSnapshotFiles::open(const std::string& name) const {
  CELLAR_TRY(check_name("snapshot", name));
  const auto parent = snapshots(false);
  if (parent.status().is(Code::kNotFound)) return unknown(name);
  CELLAR_TRY(parent.status());
  auto directory = (*parent)->directory(name, false);
  if (directory.status().is(Code::kNotFound)) return unknown(name);
  CELLAR_TRY(directory.status());
  auto opened = open_checkpoint(std::move(*directory), world_.executor);
  if (opened.status().is(Code::kNotFound)) return Status::not_found("snapshot " + name + " is incomplete");
  return opened;
}

Status NamedSnapshotFiles::drop(const std::string& name) {
  CELLAR_TRY(check_name("snapshot", name));
  if (const Status found = open(name).status(); found.is(Code::kNotFound)) return found;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> parent, snapshots(false));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> snapshot, parent->directory(name, false));
  auto lock = snapshot->lock(kLockName);
  if (lock.status().is(Code::kLocked))
    return Status::locked("snapshot " + name + " is open: " + std::string(lock.status().message()));
  CELLAR_TRY(lock.status());
  CELLAR_ASSERT(*lock != nullptr);  // nobody reads the snapshot while it is removed
  return remove(*parent, *snapshot, name).with_context("snapshot " + name);
}

void NamedSnapshotFiles::sweep() {
  const auto parent = snapshots(false);
  if (!parent.ok()) return;
  const auto entries = (*parent)->list();
  if (!entries.ok()) return;
  for (const DirectoryEntry& entry : *entries) {
    if (!entry.is_directory) continue;
    const auto snapshot = (*parent)->directory(entry.name, false);
    const auto whole = snapshot.ok() ? is_whole(**snapshot) : Result<bool>(snapshot.status());
    if (!whole.ok() || *whole) continue;
    if (const Status removed = remove(**parent, **snapshot, entry.name); !removed.ok())
      world_.log(LogLevel::kWarning, "an incomplete snapshot remains: " + removed.to_text());
  }
}

}  // namespace cellar
