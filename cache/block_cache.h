// BlockCache: a byte budget over blocks whose pointers are held by their files.
//
// A file keeps one BlockSlot per block. A cache hit is a load from the slot and one atomic add, with no
// hash table and no lock. The cache knows every filled slot, charges its bytes to the budget, and empties
// slots when the budget is exceeded.
//
// Split reference count. A slot's word holds a pointer (low 48 bits) and the number of pins taken through
// the slot (high 16 bits). The block has a count of its own (Pinnable), to which pins are released. A
// reader adds one to the word's count; the value before the addition tells it whether there was a block.
// Because pointer and count are one word, no block can be freed between the look and the pin. The number
// of outstanding pins is:
//
//   count in the word + own count - kHeld
//
// kHeld is a large number that the cache adds to the own count while the block is in the cache. Readers
// only subtract from the own count, and kHeld keeps it from reaching zero while the block is in the
// cache.
//  - Leaving: the word is exchanged for 0. The count found in the word moves to the own count, then kHeld
//    is dropped. From then on the own count is the number of pins, and the last reader to unpin frees the
//    block.
//  - Folding: the word's count must not reach 2^16. A reader that finds it half full adds it to the own count
//    and then takes it out of the word by compare-and-swap. If the word has changed meanwhile, the reader
//    takes the addition back. In between the own count is too high, never too low. The reader has a pin of
//    its own, so the block is not freed meanwhile, and no other block can be allocated at its address. Every
//    reader that finds the count too high does this before it goes on. So at most one pin per thread is added
//    beyond the half.
//  - A count next to a null pointer is meaningless: it comes from readers that were too late, and the next
//    insert overwrites it.
// A block is stored into its slot with release, and readers add with acquire: the block that they see
// through the pointer is complete. Stores to a slot's pointer are made only under the lock of the slot's
// shard.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/pin.h"
#include "cache/block_trace.h"
#include "cache/cached_block.h"
#include "cellar/status.h"

namespace cellar {

class RowSlice;
class RowTable;
struct SliceKey;

struct BlockCacheStats {
  uint64_t capacity_bytes = 0;
  uint64_t used_bytes = 0;    // bytes of cached blocks and slices, with free memory between them
  uint64_t pinned_bytes = 0;  // bytes of indexes, Bloom filters and the table of slices: never evicted
  uint64_t blocks = 0;
  uint64_t rows = 0;      // slices
  uint64_t hits = 0;      // of blocks; approximate under concurrency
  uint64_t row_hits = 0;  // found slices; approximate, too
  uint64_t misses = 0;    // of blocks
  uint64_t inserts = 0;
  uint64_t evictions = 0;
};

// Any thread may call all functions.
//
// The budget covers the blocks in slots, pinned by readers or not, and the bytes given to charge_pinned().
// The charge of a block contains its share of the free memory that the blocks' heap may keep
// (base/block_heap.h). While the heap keeps more, the budget is smaller.
// Each shard keeps to its equal part of the budget before and after every insert. The budget does not cover
// blocks that have left the cache and are still pinned. That memory belongs to the readers, and a reader pins
// few blocks.
//
// A cache may also hold slices: the cells that one file has for one row (cache/row_slice.h). A slice is an
// entry like a block, under the same policy and the same budget. Its slot is in a table of the cache. Nobody
// empties the slots of a closed file's slices: no reader asks for them again, so the policy evicts them.
class BlockCache {
 public:
  // `policy` is the name of a CachePolicy ("clock", "lru") with its parameters, in the form that
  // Registry<CachePolicy> accepts; kInvalidArgument otherwise. A capacity of 0 caches nothing. With
  // shards 0 the number is chosen by capacity (a shard holds at least 8 MiB, at most 16 shards). Each use of
  // the cache is recorded in `trace`, which may be null. With `rows`, readers keep slices once a block had to
  // leave. With a trace they do not, because a trace is of blocks.
  static Result<std::shared_ptr<BlockCache>> create(uint64_t capacity_bytes, const std::string& policy,
                                                    uint32_t shards,
                                                    std::shared_ptr<BlockTraceWriter> trace = nullptr,
                                                    bool rows = false);
  // Returns how many shards there are when they are chosen by capacity.
  static uint32_t shards_for(uint64_t capacity_bytes);
  // Empties all slots that are still filled.
  ~BlockCache();

  // Returns the id of a file's offset 0: the id of its block at another offset is that much greater. No other
  // file has these ids until 2^24 files were opened.
  uint64_t open_file();
  // Returns a number that no other file gets, in any cache of the process. It names the rows of the file.
  static uint64_t number_file();
  // Says in the trace that the blocks of the file are not asked for again. Call it once their slots are
  // empty.
  void close_file(uint64_t first_id);

  // Returns the block in the slot, pinned, or an empty pin. Marks the block as used.
  Pin lookup(BlockSlot& slot);

  // Inserts `block` (which was in no cache yet) into the slot, unless another thread has inserted one
  // first. Returns the block that is then in the slot, pinned; if another thread was faster, frees
  // `block`. Evicts other blocks to stay within the budget. A block larger than a shard's budget is
  // returned pinned without being cached. `kind` is for the trace: kMiss, or kLoaded if nobody asked for the
  // block.
  Pin insert(BlockSlot& slot, CachedBlock* block, BlockUseKind kind = BlockUseKind::kMiss);

  // Does the same without evicting: if there is no room, frees `block` and returns an empty pin. In the trace
  // the block is kLoaded.
  Pin insert_if_room(BlockSlot& slot, CachedBlock* block);

  // Returns whether reads of one row look for slices and keep them. A cache that never had to evict a block
  // returns false, so that its readers do not pay for slices.
  bool keeps_rows() const { return keeps_rows_.load(std::memory_order_relaxed); }
  // Returns the slice, pinned, or an empty pin. Marks the slice as used.
  Pin find_row(const SliceKey& key);
  // Inserts a slice (just made, with or without pins), unless there is one for its key. Evicts other entries.
  // A slice that nobody pins and that is not inserted is freed.
  void keep_row(const SliceKey& key, RowSlice* slice);
  // Returns whether a block of so many bytes would evict nothing, and leave an eighth of its shard free. If
  // not, a reader that keeps slices does not insert a block that it read once.
  bool is_roomy(const BlockSlot& slot, uint64_t bytes) const;
  // Notes that a block was read and not inserted. Returns whether it was among the last of such blocks
  // already. Always false before the first slice.
  bool missed_lately(uint64_t block_id);

  // Says in the trace that lookup() did not find the block, which was read and is not inserted.
  void pass_by(const CachedBlock& block);

  // Returns whether the slot holds a block now. Does not count as a use of the block.
  bool holds(const BlockSlot& slot) const;

  // Returns whether charge_pinned(bytes) would evict nothing now.
  bool has_room_for_pinned(uint64_t bytes) const;

  // Empties the slot. Readers that hold pins keep the block alive.
  void erase(BlockSlot& slot);

  // Charges memory that cannot be evicted (indexes, filters), which leaves less room for blocks.
  void charge_pinned(int64_t bytes);

  BlockCacheStats stats() const;

  // Ends the trace. Returns the first error of its file; ok if there is no trace.
  Status finish_trace();

 private:
  struct Shard;
  struct Impl;
  explicit BlockCache(std::unique_ptr<Impl> impl);

  CachedBlock* pin_in_slot(BlockSlot& slot);
  void record(BlockUseKind kind, const CachedBlock& block);
  Pin put(BlockSlot& slot, CachedBlock* block, bool evict);
  RowTable& row_table();
  void note_use(BlockSlot& slot, CachedBlock* block);
  void remember_hit(BlockSlot& slot, CachedBlock* block);
  void trim_all();

  std::unique_ptr<Impl> impl_;
  std::atomic<bool> keeps_rows_{false};
};

}  // namespace cellar
