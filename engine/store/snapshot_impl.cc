// SnapshotImpl: the end of a snapshot lets views go that were kept for it.
#include "engine/store/snapshot_impl.h"

#include "base/assert.h"

namespace cellar {

SnapshotImpl::~SnapshotImpl() {
  if (core_->life.inherited()) return;
  CELLAR_ASSERT(sequence_ <= core_->mvcc.read_point());
  if (!core_->mvcc.close_snapshot(sequence_) || core_->counters.views_kept.load() == 0) return;
  for (const auto& store : core_->catalog.stores()) store->let_go(sequence_);
}

}  // namespace cellar
