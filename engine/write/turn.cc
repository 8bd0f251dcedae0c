// Turn: the slow half of taking it.
#include "engine/write/turn.h"

#include "base/spin.h"

namespace cellar {

// One thread is woken for each turn that was wanted. A thread that has slept, or was about to, marks the turn
// as wanted when it takes it. Others may still sleep, and its give() wakes the next one.
void Turn::take_slowly() {
  const auto take_if_free = [&] {
    uint32_t free = kFree;
    return state_.load(std::memory_order_relaxed) == kFree &&
           state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire);
  };
  if (spin_until(take_if_free)) return;
  bool mine = false;
  const auto take_or_want = [&] {
    return mine = state_.exchange(kTakenAndWanted, std::memory_order_seq_cst) == kFree;
  };
  while (!mine) {
    sleepers_.sleep_unless(0, take_or_want);
    if (!mine) static_cast<void>(take_or_want());
  }
  CELLAR_ASSERT(taken());
}

}  // namespace cellar
