// CachedBlock and BlockSlot: the entries of the block cache, and the places that point to them.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "base/pin.h"
#include "cellar/cache_policy.h"

namespace cellar {

class BlockCache;
class BlockSlot;
class RowSlice;

// CachedBlock: the base of everything that can be cached. It is constructed with its charge in bytes:
// everything it holds, including itself and whatever derived classes may build later. It is immutable
// afterwards. After it has left its slot and cache it needs neither: pins may outlive both.
class CachedBlock : public Pinnable, private CacheEntry {
 public:
  explicit CachedBlock(uint64_t charge_bytes, bool has_priority = false) {
    charge = charge_bytes;
    in_memory = has_priority;
  }
  uint64_t charge_bytes() const { return charge; }
  // Names the block for policies and traces; see BlockCache::open_file(). Call only before the block is given
  // to a cache. A block without a name is known by its slot.
  void set_id(uint64_t block_id) {
    CELLAR_ASSERT(slot_ == nullptr);
    id = block_id;
  }
  uint64_t id_in_cache() const { return id; }
  bool take_touched() final { return touched_.exchange(false, std::memory_order_relaxed); }

 protected:
  // Adds to the charge. Call only before the block is given to a cache.
  void add_charge(uint64_t bytes) {
    CELLAR_ASSERT(slot_ == nullptr);
    charge += bytes;
  }

 private:
  friend class BlockCache;
  friend class BlockSlot;
  friend class RowSlice;
  std::atomic<bool> touched_{false};
  bool is_row_ = false;        // it is a RowSlice
  BlockSlot* slot_ = nullptr;  // guarded by the shard's lock; null if not in the cache
};

// BlockSlot: the place where a file remembers a cached block. Holds the pointer and a count of the pins
// taken through it in one word. Any thread may pass it to BlockCache, always to the same cache. It must
// be empty (erase) when destroyed, and it cannot be moved.
class BlockSlot {
 public:
  BlockSlot() = default;
  BlockSlot(const BlockSlot&) = delete;
  BlockSlot& operator=(const BlockSlot&) = delete;
  ~BlockSlot() { CELLAR_ASSERT((word_.load(std::memory_order_relaxed) & kPointerMask) == 0); }

 private:
  friend class BlockCache;
  static constexpr unsigned kCountShift = 48;
  static constexpr uint64_t kPointerMask = (uint64_t{1} << kCountShift) - 1;
  std::atomic<uint64_t> word_{0};
};

}  // namespace cellar
