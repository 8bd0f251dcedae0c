// Arena: bump allocation that frees everything at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cellar {

// One thread at a time. Allocated memory lives until the arena is destroyed.
class Arena {
 public:
  explicit Arena(size_t block_bytes = 256 << 10);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Returns `bytes` (1 or more) of uninitialised memory, aligned to `alignment` (a power of two, at most
  // 64).
  char* allocate(size_t bytes, size_t alignment = 8) {
    const size_t skip = -reinterpret_cast<uintptr_t>(at_) & (alignment - 1);
    if (skip + bytes <= static_cast<size_t>(end_ - at_)) {
      char* start = at_ + skip;
      at_ = start + bytes;
      return start;
    }
    return allocate_slowly(bytes, alignment);
  }

 private:
  char* allocate_slowly(size_t bytes, size_t alignment);
  struct Impl;
  char* at_ = nullptr;
  char* end_ = nullptr;
  size_t block_bytes_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar
