// Ticks: the processor's own counter of time. Reading it costs a few nanoseconds.
#pragma once

#include <cstdint>

namespace cellar {

// Returns whether cpu_ticks() counts at one rate, whatever the processor does. It is false on processors
// without such a counter.
bool cpu_ticks_are_steady();

// Returns the counter. Its rate is that of the machine: compare it with a Clock. Any thread.
inline uint64_t cpu_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

}  // namespace cellar
