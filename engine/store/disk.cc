// Disk: which failures of lock, manifest and log make the engine read-only.
#include "engine/store/disk.h"

#include "base/assert.h"
#include "base/mutex.h"

namespace cellar {

Status Disk::sync_log() {
  CELLAR_ASSERT(wal != nullptr && mutexes_held() == 0);
  const Status synced = wal->sync();
  if (!synced.ok() && !wal->health().ok()) health.fail(synced);
  return synced;
}

Status Disk::check_lock() {
  const Status held = lock == nullptr ? Status() : lock->check();
  if (held.is(Code::kLocked)) health.fail(held, Health::Ends::kByReopen);
  return held;
}

Status Disk::commit(const ManifestEdit& edit) {
  CELLAR_ASSERT(manifest != nullptr && mutexes_held() == 0);
  CELLAR_TRY(check_lock());
  const auto committed = manifest->commit(edit);
  if (!committed.ok()) {
    if (manifest->poisoned()) health.fail(committed.status());
    return committed.status();
  }
  if (wal != nullptr) wal->note_manifest_edit(*committed);
  return {};
}

}  // namespace cellar
