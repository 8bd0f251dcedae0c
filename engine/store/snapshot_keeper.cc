// SnapshotKeeper: the end of a snapshot lets go of the views that were kept for it.
#include "engine/store/snapshot_keeper.h"

#include "base/assert.h"

namespace cellar {

void SnapshotKeeper::close(uint64_t sequence) {
  if (life_.inherited()) return;
  CELLAR_ASSERT(sequence <= mvcc_.read_point());
  if (!mvcc_.close_snapshot(sequence) || counters_.views_kept.load() == 0) return;
  for (const auto& store : catalog_.stores()) store->let_go(sequence);
}

}  // namespace cellar
