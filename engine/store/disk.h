// Disk: the directory of an open store: its lock, its manifest and its log. Commits manifest edits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "cellar/file_system.h"
#include "engine/log/wal_reader.h"
#include "engine/log/wal_writer.h"
#include "engine/manifest/manifest.h"
#include "engine/store/health.h"
#include "engine/store/name_syncs.h"

namespace cellar {

// The recovery fills the public members. They are fixed afterwards, until the engine closes. Functions: any
// thread.
struct Disk {
  Disk(Health& engine_health, Executor& executor) : health(engine_health), names(executor, engine_health) {}
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  Health& health;
  NameSyncs names;  // of store files and their directories
  std::unique_ptr<Directory> root;
  std::unique_ptr<FileLock> lock;
  std::unique_ptr<Manifest> manifest;
  std::unique_ptr<Wal> wal;  // null when read-only
  Identity identity;         // of the store
  LogEnd log_end;            // of a reader: where it goes on in the log. Its refresh alone uses it
  // A reader counts its refreshes that have read the log whole. Writes that it showed before may have been
  // given up.
  std::atomic<uint64_t> logs_read_anew{0};
  std::atomic<uint32_t> table_id_min{0};

  // Returns the segments of the log, beginning with those that are kept for feeds.
  std::vector<LogSegment> log_segments() const {
    if (wal != nullptr) return wal->segments();
    const MutexLock held(found_mutex_);
    return log_found_;
  }
  // Notes the log as the recovery has found it, or the refresh of a reader. It counts without a `wal`.
  void note_log_found(std::vector<LogSegment> segments) {
    const MutexLock held(found_mutex_);
    log_found_ = std::move(segments);
  }
  // Returns the id for a new table. A table whose directory could not be made durable has used up its id.
  uint32_t next_table_id() const {
    return std::max(manifest->current()->next_table_id, table_id_min.load(std::memory_order_relaxed));
  }
  void give_up_table_id(uint32_t id) { table_id_min.store(id + 1, std::memory_order_relaxed); }
  // Makes the log durable. A failure that seals the log makes the engine read-only.
  Status sync_log();
  // Makes names in the root durable. A failure makes the engine read-only.
  Status sync_root();
  // The engine becomes read-only if, and as long as, a part has failed.
  void fail_while(const std::function<bool()>& has_failed, const Status& status);
  // Returns ok while the store is this engine's alone; otherwise the engine becomes read-only.
  Status check_lock();
  // Commits an edit of the manifest and tells the log of it. The engine becomes read-only if the manifest
  // cannot be trusted any more.
  Status commit(const ManifestEdit& edit);
  // Returns whether the manifest names the family. It refuses edits about a family that it does not name.
  bool names_family(uint32_t family_id) const {
    CELLAR_ASSERT(manifest != nullptr);
    return manifest->current()->family(family_id).second != nullptr;
  }

 private:
  mutable Mutex found_mutex_;
  std::vector<LogSegment> log_found_ CELLAR_GUARDED_BY(found_mutex_);
};

}  // namespace cellar
