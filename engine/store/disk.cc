// Disk: which failures of lock, manifest and log make the engine read-only.
#include "engine/store/disk.h"

namespace cellar {

Status Disk::sync_log() {
  const Status synced = wal->sync();
  if (!synced.ok() && !wal->health().ok()) health.fail(synced.with_context("write-ahead log"));
  return synced;
}

Status Disk::check_lock() {
  const Status held = lock == nullptr ? Status() : lock->check();
  if (held.is(Code::kLocked)) health.fail(held, Health::Ends::kByReopen);
  return held;
}

Status Disk::commit(const ManifestEdit& edit) {
  CELLAR_TRY(check_lock());
  const auto committed = manifest->commit(edit);
  if (!committed.ok()) {
    if (manifest->poisoned()) health.fail(committed.status().with_context("manifest"));
    return committed.status();
  }
  if (wal != nullptr) wal->note_manifest_edit(*committed);
  return {};
}

}  // namespace cellar
