// RowKeeper: how a read of one row makes a slice of the row for the block cache.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "cache/block_cache.h"
#include "cache/row_slice.h"
#include "cell/cell_order.h"
#include "hfile/block/block.h"
#include "hfile/block/index_reader.h"

namespace cellar {

// RowKeeper: belongs to the read of one row in one file. The file's cursor asks it once, when it has found
// the block. If a slice is made, the read goes on with the cells of the slice. One thread at a time.
class RowKeeper {
 public:
  RowKeeper(BlockCache& cache, const SliceKey& key) : cache_(cache), key_(key) {
    CELLAR_DCHECK(!key.row.empty() && key.file_id != 0);
  }

  // Returns true for the first search of the read. Only that one makes a slice.
  bool take_turn() { return !std::exchange(asked_, true); }
  // Returns whether the cache is too full for a block that the first search has read from disk. The cursor
  // then calls settle(), which decides about the block.
  bool leaves_out(const BlockSlot& slot, const Block& block) const {
    return !asked_ && !cache_.is_roomy(slot, block.charge_bytes());
  }
  // Returns whether a block that leaves_out() left outside was missed shortly before. It then enters the
  // cache in any case.
  bool missed_lately(uint64_t block_id) const { return cache_.missed_lately(block_id); }
  // Returns whether the block, found in the cache, was used for this row the last time, too. Then its reads
  // are of few rows, and it is not worth its room.
  bool was_read_again(const Block& block) const { return block.read_again(key_.short_hash()); }

  // Returns whether all cells of the row that the file has before this block's end begin in this block. A
  // search for `first`, the first key of the row, would then come to this block, too.
  bool begins_in(const IndexCursor& index, const CellView& first) const {
    CELLAR_DCHECK(first.row() == key_.row);
    const std::strong_ordering order = compare_keys(index.key(), first);
    return order < 0 || (order == 0 && !index.loose_keys()) || index.is_first();
  }
  // Returns whether the row cannot go on after this block.
  bool ends_in(const IndexCursor& index) const {
    CellView next;
    return !index.next_key(next) || next.row() > key_.row;
  }

  // The cells of the row, in order. add() returns false if they are too many for a slice.
  void begin(const Block& block) { builder().begin(block.charge_bytes() / kPartOfBlock); }
  bool add(const CellView& cell) {
    CELLAR_DCHECK(cell.row() == key_.row);
    return builder().add(cell);
  }
  // Makes the slice and gives it to the cache. Returns false if the row has no cells.
  bool finish(bool has_priority) {
    CELLAR_ASSERT(!slice_);
    if (builder().empty()) return false;
    RowSlice* const slice = builder().finish(key_, has_priority);
    slice_ = Pin(slice);
    cache_.keep_row(key_, slice);
    return true;
  }
  // Decides about a block that leaves_out() left outside: it enters the cache if no slice was made, or if it
  // was missed shortly before. So a block that is read once does not drive out slices.
  void settle(BlockSlot& slot, Block* block) const {
    if (!slice_ || missed_lately(block->id_in_cache())) cache_.insert(slot, block);
  }

  const Pin& slice() const { return slice_; }
  std::string_view row() const { return key_.row; }

 private:
  // A slice takes at most this part of its block.
  static constexpr uint64_t kPartOfBlock = 8;

  static RowSliceBuilder& builder() {
    thread_local RowSliceBuilder kept;
    return kept;
  }

  BlockCache& cache_;
  const SliceKey key_;
  bool asked_ = false;
  Pin slice_;
};

}  // namespace cellar
