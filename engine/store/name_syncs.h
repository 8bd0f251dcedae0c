// NameSyncs: makes the names of new store files durable, and remembers that a sync of them failed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/status.h"
#include "engine/store/health.h"

namespace cellar {

// Any thread. The system reports the failure of a sync once. After it, a sync of the same directory succeeds,
// although names that were made before are lost. Jobs of a family share its directory, so the failure of one
// concerns all that have made names before it. Syncs therefore run one at a time. Each knows of all failures
// before it.
class NameSyncs {
 public:
  // Borrows both.
  NameSyncs(Executor& executor, Health& health) : health_(health), changed_(executor.make_event()) {}

  // Returns how many syncs have failed. Call it before the first name is made, and give it to sync().
  uint64_t failures() const { return failures_.load(std::memory_order_acquire); }
  // Calls `sync`, which syncs directories. There were so many failures before the names were made. Error:
  // kIoError if another sync has failed since, without a call. If `sync` fails, the engine becomes read-only,
  // and the error is returned. Waits for syncs of other threads; call it without locks.
  Status sync(uint64_t failures, const std::function<Status()>& sync) noexcept;

 private:
  void take_turn();
  void give_turn();

  Health& health_;
  const std::unique_ptr<Event> changed_;  // signalled when the turn is given back
  std::atomic<uint64_t> failures_{0};     // changed in the turn
  Mutex mutex_;
  bool turn_taken_ CELLAR_GUARDED_BY(mutex_) = false;
};

}  // namespace cellar
