// MemtableSpace: the memory of an engine's memtables: makes them, and counts their bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "engine/store/store_view.h"

namespace cellar {

// Any thread.
class MemtableSpace {
 public:
  // `kind` is the name of a registered memtable.
  explicit MemtableSpace(std::string kind) : kind_(std::move(kind)) {}

  // Returns an empty memtable. Its bytes are not counted until grow().
  MemtableRef create() const;

  // Returns the bytes of all memtables that wait for a flush or still take writes.
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  void grow(int64_t bytes) {
    CELLAR_DCHECK(bytes >= 0);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // Gives back bytes that grow() has counted.
  void shrink(uint64_t bytes) {
    const int64_t before = bytes_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
    CELLAR_DCHECK(before >= static_cast<int64_t>(bytes));
  }

 private:
  const std::string kind_;
  std::atomic<int64_t> bytes_{0};
};

}  // namespace cellar
