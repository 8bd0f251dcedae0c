// fetch_lines(): asks for memory before it is read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cellar {

// Fetches this many lines of 64 bytes from `address` on into the processor's cache. Reads nothing, so the
// address may be any, and the lines may end beyond an object.
inline void fetch_lines(uintptr_t address, size_t lines) {
  constexpr uintptr_t kLineBytes = 64;
  for (size_t i = 0; i < lines; ++i)
    __builtin_prefetch(reinterpret_cast<const void*>(address + i * kLineBytes));
}
inline void fetch_lines(const void* address, size_t lines) {
  fetch_lines(reinterpret_cast<uintptr_t>(address), lines);
}

}  // namespace cellar
