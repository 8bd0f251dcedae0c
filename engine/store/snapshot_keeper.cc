// SnapshotKeeper: the end of a snapshot lets go of the views that were kept for it.
#include "engine/store/snapshot_keeper.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"

namespace cellar {

void SnapshotKeeper::close(uint64_t sequence) {
  if (life_.inherited()) return;
  CELLAR_ASSERT(sequence <= mvcc_.read_point());
  if (!mvcc_.close_snapshot(sequence) || counters_.views_kept.load() == 0) return;
  const std::vector<std::shared_ptr<Store>> stores = catalog_.stores();
  // Another snapshot of the same sequence may have been opened since, and uses the views.
  mvcc_.with_snapshots([&](const std::vector<uint64_t>& snapshots) {
    if (std::ranges::binary_search(snapshots, sequence)) return;
    for (const auto& store : stores) store->let_go(sequence);
  });
}

}  // namespace cellar
