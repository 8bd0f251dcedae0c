// RowTable: the slots of row slices, found by hash, and a short record of missed blocks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.h"
#include "cache/cached_block.h"
#include "cache/row_slice.h"

namespace cellar {

// RowTable: belongs to a cache. A slot may be in any of kWays places of its set. A set is one cache line: its
// slots, and a byte of the hash for each of them. The bytes only save looks at slots. A slice whose byte is
// wrong is hard to find. No reader takes it for another one, because readers compare the whole key. Any
// thread.
class RowTable {
 public:
  static constexpr size_t kWays = 7;

  // Takes about a hundredth of the cache. That is room for slices of half of the cache, if they are of the
  // usual few hundred bytes. Blocks have the other half, and more where rows are larger.
  explicit RowTable(uint64_t capacity_bytes)
      : sets_(std::max<uint64_t>(1, capacity_bytes / kBytesPerSet)),
        table_(std::make_unique<Set[]>(sets_)),
        missed_mask_(std::bit_ceil(std::max(kMissedMin, capacity_bytes / kBytesPerMissed)) - 1),
        missed_(std::make_unique<std::atomic<uint32_t>[]>(missed_mask_ + 1)) {
    CELLAR_ASSERT(capacity_bytes > 0);
  }

  uint64_t memory_bytes() const {
    return sizeof(RowTable) + sets_ * sizeof(Set) + (missed_mask_ + 1) * sizeof(uint32_t);
  }

  // Calls `visit` with each slot that may hold the slice, until it returns true.
  template <class Visit>
  void find(const SliceKey& key, const Visit& visit) {
    Set& set = set_of(key);
    for (uint64_t left = matches(set.tags.load(std::memory_order_relaxed), tag_of(key)); left != 0;
         left &= left - 1)
      if (visit(set.slots[static_cast<size_t>(std::countr_zero(left)) / 8])) return;
  }

  // Returns the number of the slot in its set that a new slice should take: an empty one, or one in turn.
  template <class IsEmpty>
  size_t choose(const SliceKey& key, const IsEmpty& is_empty) {
    Set& set = set_of(key);
    for (size_t way = 0; way < kWays; ++way)
      if (is_empty(set.slots[way])) return way;
    const uint64_t before = set.tags.fetch_add(uint64_t{1} << kTurnShift, std::memory_order_relaxed);
    return (before >> kTurnShift) % kWays;
  }
  BlockSlot& slot(const SliceKey& key, size_t way) { return set_of(key).slots[way]; }
  // Notes that the slice was put into this slot.
  void note(const SliceKey& key, size_t way) {
    CELLAR_DCHECK(way < kWays);
    std::atomic<uint64_t>& tags = set_of(key).tags;
    const uint64_t mask = uint64_t{0xff} << 8 * way;
    const uint64_t tag = uint64_t{tag_of(key)} << 8 * way;
    uint64_t before = tags.load(std::memory_order_relaxed);
    while (!tags.compare_exchange_weak(before, (before & ~mask) | tag, std::memory_order_relaxed)) {
    }
  }

  // Notes that a block was read because the cache did not have it. Returns whether it was among the last of
  // such blocks already. The record forgets a block when another one takes its place. It has a place for each
  // 16 blocks of the usual size that fit into the cache. A longer memory would let in so many blocks that no
  // slice stays long enough to be used again.
  bool missed_lately(uint64_t block_id) {
    const uint64_t mixed = block_id * 0x9e3779b97f4a7c15;
    const auto name = static_cast<uint32_t>(mixed >> 32) | 1;  // 0: no block
    std::atomic<uint32_t>& place = missed_[mixed >> 20 & missed_mask_];
    if (place.load(std::memory_order_relaxed) == name) return true;
    place.store(name, std::memory_order_relaxed);
    return false;
  }

 private:
  struct alignas(64) Set {
    std::atomic<uint64_t> tags{0};  // a byte for each slot, and in the highest byte whose turn it is to leave
    std::array<BlockSlot, kWays> slots;
  };
  static_assert(sizeof(Set) == 64);
  static constexpr uint64_t kBytesPerSet = 6400;
  static constexpr uint64_t kBytesPerMissed = 16 * (16 << 10);
  static constexpr uint64_t kMissedMin = 64;
  static constexpr unsigned kTurnShift = 56;
  static constexpr uint64_t kEachByte = 0x0001010101010101;

  Set& set_of(const SliceKey& key) { return table_[(key.hash >> 32) * sets_ >> 32]; }
  static uint8_t tag_of(const SliceKey& key) {
    return static_cast<uint8_t>(std::max<uint64_t>(1, key.hash & 0xff));
  }
  // Returns the highest bit of each byte that equals the tag, and sometimes of one more.
  static uint64_t matches(uint64_t tags, uint8_t tag) {
    const uint64_t differing = tags ^ kEachByte * tag;
    return (differing - kEachByte) & ~differing & kEachByte << 7;
  }

  const uint64_t sets_;
  const std::unique_ptr<Set[]> table_;
  const uint64_t missed_mask_;
  const std::unique_ptr<std::atomic<uint32_t>[]> missed_;
};

}  // namespace cellar
