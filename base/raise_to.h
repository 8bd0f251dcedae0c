// raise_to(): the greatest value that several threads have seen.
#pragma once

#include <atomic>

namespace cellar {

// Sets `mark` to `to`, if `to` is greater. Any thread.
template <class Number>
void raise_to(std::atomic<Number>& mark, Number to, std::memory_order order = std::memory_order_acq_rel) {
  Number before = mark.load(std::memory_order_relaxed);
  while (before < to && !mark.compare_exchange_weak(before, to, order, std::memory_order_relaxed)) {
  }
}

}  // namespace cellar
