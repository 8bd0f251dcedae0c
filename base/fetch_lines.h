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

// Fetches the lines that the next `bytes` after `end` take, where those before it were just written. A store
// to a line that the processor does not have waits in its store buffer, and the next locked instruction waits
// for that.
inline void fetch_lines_to_write(const char* end, size_t bytes) {
  constexpr size_t kBytesMax = 512;
  fetch_lines(end, (bytes < kBytesMax ? bytes : kBytesMax) / 64 + 1);
}

}  // namespace cellar
