// simulate_belady(): the optimum, which knows the future.
//
// After Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5
// (2), 1966.
#pragma once

#include "tools/simulate/cache_simulation.h"

namespace cellar {

// Returns what a cache would have found that evicts the block whose next use is furthest away. Like the real
// cache it inserts each block that was read. If all blocks have one size, no policy finds more. With unequal
// sizes the optimum is not computable in reasonable time. The same rule then counts blocks, not bytes, and a
// policy that prefers small blocks may find more.
CacheCounts simulate_belady(const CacheTrace& trace, uint64_t capacity_bytes);

}  // namespace cellar
