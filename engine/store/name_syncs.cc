// NameSyncs: a turn that is held during a sync, and a count of failures.
#include "engine/store/name_syncs.h"

#include "base/assert.h"

namespace cellar {

void NameSyncs::take_turn() {
  CELLAR_ASSERT(mutexes_held() == 0);
  for (;;) {
    const uint64_t seen = changed_->count();
    {
      const MutexLock lock(mutex_);
      if (!turn_taken_) {
        turn_taken_ = true;
        return;
      }
    }
    changed_->wait(seen, -1);
  }
}

void NameSyncs::give_turn() {
  {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(turn_taken_);
    turn_taken_ = false;
  }
  changed_->signal();
}

Status NameSyncs::sync(uint64_t failures, const std::function<Status()>& sync) noexcept {
  CELLAR_ASSERT(sync != nullptr && failures <= this->failures());
  take_turn();
  Status status;
  if (failures != this->failures()) {
    status = Status::io_error(
        "another sync of a directory of store files failed meanwhile, so that new names may be lost");
  } else if (status = sync(); !status.ok()) {
    failures_.fetch_add(1, std::memory_order_release);
    health_.fail(status);  // in the turn: the next job finds the engine read-only
  }
  give_turn();
  return status;
}

}  // namespace cellar
