// spin_until(): waits for a moment without sleeping.
#pragma once

#include <thread>

namespace cellar {

// Looks for the end of a short wait some hundred times, about as long as two switches of threads would take.
// Most waits of writers for one another are shorter. Then yields the processor a few times, and looks after
// each yield. The awaited thread may have no processor. After a yield it runs for its whole share of time,
// where the wake of a sleeper would interrupt it (docs/decisions/commit-order.md). Returns whether the end
// came.
template <class Ready>
bool spin_until(const Ready& ready) {
  constexpr int kLooks = 200;
  constexpr int kYields = 8;
  for (int i = 0; i < kLooks; ++i) {
    if (ready()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  for (int i = 0; i < kYields; ++i) {
    std::this_thread::yield();
    if (ready()) return true;
  }
  return false;
}

}  // namespace cellar
