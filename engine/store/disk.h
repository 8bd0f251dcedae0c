// Disk: the directory of an open store: its lock, its manifest and its log. Commits manifest edits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "cellar/file_system.h"
#include "engine/log/wal_writer.h"
#include "engine/manifest/manifest.h"
#include "engine/store/health.h"

namespace cellar {

// The recovery fills the members. They are fixed afterwards, until the engine closes. Functions: any thread.
struct Disk {
  explicit Disk(Health& engine_health) : health(engine_health) {}
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  Health& health;
  std::unique_ptr<Directory> root;
  std::unique_ptr<FileLock> lock;
  std::unique_ptr<Manifest> manifest;
  std::unique_ptr<Wal> wal;           // null when read-only
  std::vector<LogSegment> log_found;  // the log as the recovery found it; counts when read-only
  Identity identity;                  // of the store

  // Returns the segments of the log, beginning with those that are kept for feeds.
  std::vector<LogSegment> log_segments() const { return wal != nullptr ? wal->segments() : log_found; }
  // Makes the log durable. A failure that seals the log makes the engine read-only.
  Status sync_log();
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
};

}  // namespace cellar
