// Slot orders: the slots of a node that are in use, and their order by key, in one word (Masstree's
// permutation).
//
// A node's entries stay in slots in the order of their insertion. The lowest 4 bits of an order are the
// count, then come 4 bits for each slot. A node publishes a new entry by storing a new order.
#pragma once

#include <cstdint>

#include "base/assert.h"

namespace cellar {

constexpr uint32_t kOrderSlotsMax = 15;

inline uint32_t count_of(uint64_t order) { return static_cast<uint32_t>(order & 15); }
inline uint32_t slot_at(uint64_t order, uint32_t index) {
  return static_cast<uint32_t>(order >> (4 + 4 * index)) & 15;
}

// Returns the order with the next free slot at `index`.
inline uint64_t with_next_slot(uint64_t order, uint32_t index) {
  CELLAR_DCHECK(count_of(order) < kOrderSlotsMax && index <= count_of(order));
  const uint32_t shift = 4 + 4 * index;
  const uint64_t below = (uint64_t{1} << shift) - 1;
  const uint64_t slot = order & 15;
  return ((order & below) | (slot << shift) | ((order & ~below) << 4)) + 1;
}

}  // namespace cellar
