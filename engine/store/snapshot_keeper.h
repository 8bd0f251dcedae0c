// SnapshotKeeper: opens snapshots, and lets go of what was kept for them when they end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cellar/engine.h"
#include "engine/store/activity.h"
#include "engine/store/catalog.h"
#include "engine/store/engine_life.h"
#include "engine/store/mvcc.h"

namespace cellar {

// Any thread. Borrows everything.
class SnapshotKeeper {
 public:
  SnapshotKeeper(const EngineLife& life, Mvcc& mvcc, const Catalog& catalog, const EngineCounters& counters)
      : life_(life), mvcc_(mvcc), catalog_(catalog), counters_(counters) {}

  // Registers a snapshot at the current read point and returns its sequence.
  uint64_t open() { return mvcc_.open_snapshot(); }
  // Ends a snapshot. The last one of a sequence lets go of the views that stores keep for it. Does nothing in
  // a forked child: the snapshots belong to the parent.
  void close(uint64_t sequence);

 private:
  const EngineLife& life_;
  Mvcc& mvcc_;
  const Catalog& catalog_;
  const EngineCounters& counters_;
};

// SnapshotImpl: the snapshot that users hold. While it lives, rewrites keep the cells that its sequence
// shows. Any thread.
class SnapshotImpl final : public Snapshot {
 public:
  explicit SnapshotImpl(std::shared_ptr<SnapshotKeeper> keeper)
      : keeper_(std::move(keeper)), sequence_(keeper_->open()) {}
  ~SnapshotImpl() override { keeper_->close(sequence_); }
  SnapshotImpl(const SnapshotImpl&) = delete;
  SnapshotImpl& operator=(const SnapshotImpl&) = delete;

  uint64_t sequence() const override { return sequence_; }
  // Returns whether this keeper, hence its engine, made the snapshot.
  bool is_of(const SnapshotKeeper& keeper) const { return keeper_.get() == &keeper; }

 private:
  const std::shared_ptr<SnapshotKeeper> keeper_;
  const uint64_t sequence_;
};

}  // namespace cellar
