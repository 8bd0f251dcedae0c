// Turn: a lock for steps that may wait for the disk; who waits for it spins first, and then sleeps.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "engine/write/wait_list.h"

namespace cellar {

// Any thread. Unlike a Mutex it may be held across I/O and waits for events. It goes to the first thread that
// comes after it was given back, a woken sleeper or a new thread. Handing it to a sleeper would leave it idle
// until that thread runs.
class alignas(64) Turn {
 public:
  explicit Turn(Executor& executor) : sleepers_(executor) {}

  void take() {
    CELLAR_ASSERT(mutexes_held() == 0);
    uint32_t free = kFree;
    if (state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire)) [[likely]]
      return;
    take_slowly();
  }
  void give() {
    const uint32_t before = state_.exchange(kFree, std::memory_order_seq_cst);
    CELLAR_ASSERT(before != kFree);
    if (before == kTakenAndWanted) [[unlikely]]
      sleepers_.wake(UINT64_MAX, 1);
  }
  bool taken() const { return state_.load(std::memory_order_relaxed) != kFree; }

 private:
  enum : uint32_t { kFree, kTaken, kTakenAndWanted };
  void take_slowly();

  std::atomic<uint32_t> state_{kFree};
  WaitList sleepers_;
};

// TurnHeld: takes the turn for the time of a scope.
class TurnHeld {
 public:
  explicit TurnHeld(Turn& turn) : turn_(turn) { turn_.take(); }
  ~TurnHeld() { turn_.give(); }
  TurnHeld(const TurnHeld&) = delete;
  TurnHeld& operator=(const TurnHeld&) = delete;

 private:
  Turn& turn_;
};

}  // namespace cellar
