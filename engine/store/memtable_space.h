// MemtableSpace: the memory of an engine's memtables: makes them, and counts their bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/pages.h"
#include "engine/store/store_view.h"

namespace cellar {

// Memtables that were flushed stay in memory as long as a scanner, a snapshot or a batch of rows pins them.
// They take room from the others, but never all of it: a thread that holds a scanner may have to write.
// Any thread.
class MemtableSpace {
 public:
  // `kind` is the name of a registered memtable.
  explicit MemtableSpace(std::string kind) : kind_(std::move(kind)) {}

  // Returns an empty memtable. Its bytes are not counted until grow().
  MemtableRef create() const;

  // Returns the bytes of all memtables that wait for a flush or still take writes.
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Returns the bytes of memtables that readers still pin, although their store needs them no more.
  int64_t held_bytes() const { return held_->bytes.load(std::memory_order_relaxed); }
  int64_t held_memtables() const { return held_->memtables.load(std::memory_order_relaxed); }
  // Returns how many bytes() may be there if all memtables together may take `total`. At least an eighth of
  // it is left to writers, whatever readers hold.
  int64_t room(int64_t total) const { return std::max(total - held_bytes(), total / kShareOfWriters); }
  // Returns true if readers hold so much that writers must wait for them.
  bool is_overheld(int64_t total) const { return held_bytes() / kOverheld >= total; }
  // Counts the growth of a memtable. Returns true about once for each block of SparePages that it takes.
  bool grow(int64_t bytes) {
    CELLAR_DCHECK(bytes >= 0);
    const int64_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return SparePages::is_passed(static_cast<uint64_t>(before), static_cast<uint64_t>(before + bytes));
  }
  // Gives back bytes that grow() has counted.
  void shrink(uint64_t bytes) {
    const int64_t before = bytes_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
    CELLAR_DCHECK(before >= static_cast<int64_t>(bytes));
  }

 private:
  static constexpr int64_t kShareOfWriters = 8;
  static constexpr int64_t kOverheld = 2;

  const std::string kind_;
  const std::shared_ptr<HeldMemory> held_ = std::make_shared<HeldMemory>();  // memtables share it
  std::atomic<int64_t> bytes_{0};
};

}  // namespace cellar
