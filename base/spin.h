// spin_until(): waits for a moment without sleeping.
#pragma once

namespace cellar {

// Looks for the end of a short wait some hundred times, about as long as two switches of threads
// would take. Returns whether it came. Most waits of writers for one another are shorter.
template <class Ready>
bool spin_until(const Ready& ready) {
  constexpr int kLooks = 200;
  for (int i = 0; i < kLooks; ++i) {
    if (ready()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

}  // namespace cellar
