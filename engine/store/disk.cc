// Disk: which failures of lock, manifest and log make the engine read-only.
#include "engine/store/disk.h"

#include "base/assert.h"
#include "base/mutex.h"

namespace cellar {

Status Disk::sync_log() {
  CELLAR_ASSERT(wal != nullptr && mutexes_held() == 0);
  const Status synced = wal->sync();
  if (!synced.ok()) fail_while([this] { return !wal->health().ok(); }, synced);
  return synced;
}

Status Disk::sync_root() {
  CELLAR_ASSERT(manifest != nullptr && mutexes_held() == 0);
  const Status synced = manifest->sync_root();
  if (!synced.ok()) fail_while([this] { return manifest->poisoned(); }, synced);
  return synced;
}

// The failure may be over before this thread has told it: then nothing has failed any more.
void Disk::fail_while(const std::function<bool()>& has_failed, const Status& status) {
  CELLAR_ASSERT(!status.ok());
  for (;;) {
    const uint64_t resumes = health.resumes();
    if (!has_failed() || health.fail_since(resumes, status)) return;
  }
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
    fail_while([this] { return manifest->poisoned(); }, committed.status());
    return committed.status();
  }
  if (wal != nullptr) wal->note_manifest_edit(*committed);
  return {};
}

}  // namespace cellar
