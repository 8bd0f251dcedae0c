// Ticks: asks the processor whether its counter is invariant.
#include "platform/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cellar {

bool cpu_ticks_are_steady() {
#if defined(__x86_64__)
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariant = 1u << 8;  // of edx
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(kPowerLeaf, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariant) != 0;
#else
  return false;
#endif
}

}  // namespace cellar
