// RowSlice: all cells that one file has for one row, as an entry of the block cache.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/block_heap.h"
#include "base/hash.h"
#include "cache/cached_block.h"
#include "cellar/cell.h"

namespace cellar {

// SliceKey: names a slice: a file by its number (BlockCache::number_file), and a row. Borrows the row.
struct SliceKey {
  uint64_t file_id = 0;
  std::string_view row;
  uint64_t hash = 0;  // of both

  static SliceKey of(uint64_t file_id, std::string_view row) {
    const uint64_t mixed = (hash64(row) ^ file_id) * 0x9e3779b97f4a7c15;
    return {file_id, row, mixed ^ mixed >> 32};
  }
  // Returns a short hash for Block::read_again(). It is never 0.
  uint32_t short_hash() const { return static_cast<uint32_t>(hash) | 1; }
};

// RowSlice: an entry of the block cache for one row of one file. It owns the bytes of its cells. The object,
// its cells and their bytes are one piece of memory, and all of it is charged. A file never changes and its
// number is not used again, so a slice never becomes wrong. Any thread; immutable.
class RowSlice final : public CachedBlock {
 public:
  // The cells, in the order of the file; at least one.
  std::span<const CellView> cells() const { return {cells_begin(), cells_}; }
  bool is_of(const SliceKey& key) const { return file_id_ == key.file_id && cells_begin()->row() == key.row; }
  // Returns whether a cell is a marker that covers all columns of the row.
  bool has_family_markers() const { return family_markers_; }

  // Objects are larger than their type says. NOLINTNEXTLINE(misc-new-delete-overloads): made in place
  static void operator delete(void* slice) { BlockHeap::shared().give_back(slice); }

 private:
  friend class RowSliceBuilder;
  RowSlice(const SliceKey& key, uint64_t bytes_charged, bool has_priority)
      : CachedBlock(bytes_charged, has_priority), file_id_(key.file_id) {}
  ~RowSlice() override = default;
  static void* operator new(size_t, void* place) { return place; }

  const CellView* cells_begin() const { return reinterpret_cast<const CellView*>(this + 1); }

  uint64_t file_id_;
  uint32_t cells_ = 0;
  bool family_markers_ = false;
};
static_assert(sizeof(RowSlice) % alignof(CellView) == 0);

// RowSliceBuilder: collects the cells of a row, and makes a slice of them. It keeps its memory for the next
// row. One thread at a time.
class RowSliceBuilder {
 public:
  // Begins a slice whose charge is at most `bytes_max`.
  void begin(uint64_t bytes_max);
  // Copies the next cell of the row. Returns false if the slice would become too large.
  bool add(const CellView& cell);
  bool empty() const { return cells_.empty(); }
  // Returns the slice of the cells, at least one. It has no pins yet: give it to BlockCache::keep_row().
  RowSlice* finish(const SliceKey& key, bool has_priority);

 private:
  std::vector<CellView> cells_;  // without pointers
  std::string bytes_;            // of all cells: key, value and tags of each
  uint64_t bytes_max_ = 0;
};

}  // namespace cellar
