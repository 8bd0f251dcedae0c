// BlockCache: a byte budget over blocks whose pointers are held by their files.
//
// A file keeps one BlockSlot per block; a hit is a load from the slot and one atomic add, with no hash table
// and no lock. The cache knows every filled slot, charges its bytes to the budget and empties slots when the
// budget is exceeded.
//
// Split reference count. A slot's word is a pointer (low 48 bits) and the number of pins taken through the
// slot (high 16); the block has a count of its own (Pinnable), to which pins are released. A reader adds one
// to the word's count and learns from the value before whether there was a block: pointer and count are one
// word, so no block can go between the look and the pin. The pins outstanding are count in the word + own
// count - kHeld, where kHeld is a large number that the cache itself holds on to, so that the own count, from
// which pins are only taken, cannot come to zero while the block is in the cache.
//  - Leaving: the word is exchanged for 0. The count found in it moves to the own count, then kHeld is
//    dropped. From then on the own count is the number of pins, and the last reader to unpin frees the
//    block.
//  - Folding: the word's count must not reach 2^16. A reader that finds it half full adds it to the own
//    count and then takes it out of the word by compare-and-swap; if the word has changed meanwhile, the
//    reader takes the addition back. In between the own count is too high, never too low; and the reader
//    has a pin of its own, so the block is not freed meanwhile, and no other block can come to stand at
//    its address. Every reader that finds the count too high does this before it goes on, so at most one
//    pin per thread is added beyond the half.
//  - A count beside a null pointer means nothing: it comes from readers that were too late, and the next
//    insert stores over it.
// A block is stored into its slot with release, and readers add with acquire: what they see through the
// pointer is complete. Stores to a slot's pointer are made only under the lock of the slot's shard.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/pin.h"
#include "cellar/cache_policy.h"
#include "cellar/status.h"

namespace cellar {

class BlockCache;
class BlockSlot;

// CachedBlock: the base of what can be cached. Constructed with its charge in bytes (everything it holds,
// itself included, and what derived classes may build later), immutable afterwards. Needs no slot and no
// cache once it has left them: pins may outlive both.
class CachedBlock : public Pinnable, private CacheEntry {
 public:
  explicit CachedBlock(uint64_t charge_bytes, bool in_memory = false);
  uint64_t charge_bytes() const { return charge; }
  bool take_touched() final { return touched_.exchange(false, std::memory_order_relaxed); }

 protected:
  // Before the block is shown to a cache.
  void add_charge(uint64_t bytes) { charge += bytes; }

 private:
  friend class BlockCache;
  friend class BlockSlot;
  std::atomic<bool> touched_{false};
  BlockSlot* slot_ = nullptr;  // guarded by the shard's lock; null when not in the cache
};

// BlockSlot: where a file remembers a cached block. Any thread may call BlockCache with it, always the same
// cache; must be empty (erase) when destroyed. Does not move. Holds the pointer and a count of pins taken
// through it in one word.
class BlockSlot {
 public:
  BlockSlot() = default;
  BlockSlot(const BlockSlot&) = delete;
  BlockSlot& operator=(const BlockSlot&) = delete;
  ~BlockSlot();

 private:
  friend class BlockCache;
  std::atomic<uint64_t> word_{0};
};

struct BlockCacheStats {
  uint64_t capacity_bytes = 0;
  uint64_t used_bytes = 0;    // blocks
  uint64_t pinned_bytes = 0;  // indexes and Bloom filters that cannot leave
  uint64_t blocks = 0;
  uint64_t hits = 0;  // approximate under threads
  uint64_t misses = 0;
  uint64_t inserts = 0;
  uint64_t evictions = 0;
};

// Any thread.
//
// The budget covers the blocks in slots, pinned by readers or not, and what charge_pinned() was told; each
// shard keeps its equal part of it, before and after every insert. It does not cover blocks that have left
// the cache and are still pinned: those are the readers' memory, and a reader pins few.
class BlockCache {
 public:
  // `policy` as Registry<CachePolicy> understands it ("clock", "lru"); kInvalidArgument otherwise. capacity 0
  // caches nothing. shards 0: chosen by capacity (a shard holds at least 8 MiB, at most 16 shards).
  static Result<std::shared_ptr<BlockCache>> create(uint64_t capacity_bytes, const std::string& policy,
                                                    uint32_t shards);
  // Empties the slots that are still filled.
  ~BlockCache();

  // The block in the slot, pinned, or an empty pin. Marks it as used.
  Pin lookup(BlockSlot& slot);

  // Puts `block` (just made, no pins yet) into the slot unless another thread was faster, and returns the
  // block that is there now, pinned; if another thread was, `block` is freed. Evicts others to stay within
  // the budget; a block larger than the budget of a shard is returned pinned without being cached.
  Pin insert(BlockSlot& slot, CachedBlock* block);

  // The same, but evicts nobody: where there is no room left, `block` is freed and the pin is empty.
  Pin insert_if_room(BlockSlot& slot, CachedBlock* block);

  // Whether there is a block in the slot now; not a use of it.
  bool holds(const BlockSlot& slot) const;

  // Whether charge_pinned(bytes) would evict nobody now.
  bool has_room_for_pinned(uint64_t bytes) const;

  // Empties the slot; whoever holds pins keeps the block.
  void erase(BlockSlot& slot);

  // Accounts memory that cannot be evicted (indexes, filters): it leaves less room for blocks.
  void charge_pinned(int64_t bytes);

  // Changes the budget; evicts as needed.
  void set_capacity(uint64_t capacity_bytes);

  BlockCacheStats stats() const;

 private:
  struct Shard;
  struct Impl;
  explicit BlockCache(std::unique_ptr<Impl> impl);

  CachedBlock* pin_in_slot(BlockSlot& slot);
  Pin put(BlockSlot& slot, CachedBlock* block, bool evict);
  void remember_hit(BlockSlot& slot, CachedBlock* block);
  void trim_all();

  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar
