// Block: the payload of one block in memory, checked and decompressed.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/block_heap.h"
#include "cache/block_cache.h"
#include "cellar/cell.h"
#include "hfile/format/format.h"
#include "hfile/format/row_words.h"

namespace cellar {

// CellIndex: where some of a data block's cells begin, for binary search. One piece of memory, so that a
// search touches few cache lines. Sparse: its bytes are at most bytes_max() of the block's. Immutable.
class alignas(uint64_t) CellIndex {
 public:
  // Bytes of the block between two entries at least; an entry takes kEntryBytes.
  static constexpr size_t kStrideBytes = 128;
  static constexpr size_t kStrideBytesMapped = 512;  // of a block that is not in memory of its own
  static constexpr size_t kEntryBytes = 12;
  static constexpr uint16_t kRowsDiffer = UINT16_MAX;

  // The parts of an index.
  struct Entries {
    std::span<const uint32_t> offsets = {};  // of the cells, ascending, where a decoder can start
    bool dense = false;                      // of all cells
    // Per entry the text_word of its search text, or none at all.
    std::span<const uint64_t> words = {};
    std::string_view prefix = {};  // leading bytes that all search texts share; words begin after it
    // Bytes of each row, and the family of each cell, if they are the same for all entries. The search text
    // is then the row and the qualifier, otherwise the row alone.
    uint16_t row_bytes = kRowsDiffer;
    std::string_view family = {};
    // The bytes into which offsets point, if not the block: a decoder's notes on where it can start.
    std::string_view records = {};
  };
  static constexpr size_t kRecordSlackBytes = 16;  // that may be read after the records
  // Returns the limit of an index with this stride for a block of this size; the offsets alone always fit.
  static constexpr size_t bytes_max(size_t block_bytes, size_t stride_bytes = kStrideBytes) {
    return block_bytes * kStrideBytes / stride_bytes / 10 + 256;
  }
  static size_t bytes(const Entries& entries);
  static const CellIndex* make(const Entries& entries);
  // Objects are larger than their type says. NOLINTNEXTLINE(misc-new-delete-overloads): made in place
  static void operator delete(void* index) { BlockHeap::shared().give_back(index); }

  size_t size() const { return entries_; }
  bool dense() const { return dense_; }
  uint32_t offset(size_t i) const {
    uint32_t offset;
    std::memcpy(&offset, offsets_begin() + i * sizeof offset, sizeof offset);
    return offset;
  }
  // Empty if offsets are places in the block.
  std::string_view records() const { return {offsets_begin() + entries_ * sizeof(uint32_t), records_bytes_}; }
  // Where the first entry at or after the target lies, as far as words tell. Asks memory for what the search
  // is likely to touch next, all at once: word, offset and cell where the guess says. `cells` is where the
  // offsets begin: the block's payload, or the records.
  WordRange narrow(const CellView& target, const char* cells) const;

 private:
  explicit CellIndex(const Entries& entries);
  static void* operator new(size_t, void* place) { return place; }
  bool is_alike(const CellView& target, uint64_t& word) const;
  void note_family(std::string_view family);
  SearchText text_of(const CellView& target) const;
  int compare_with_prefix(const SearchText& text) const;

  // After this object: prefix and family, room to the next multiple of 8, the words, the offsets, the
  // records. A search begins in the first cache lines.
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view prefix() const { return {data(), prefix_bytes_}; }
  std::string_view family() const { return {data() + prefix_bytes_, family_bytes_}; }
  const uint64_t* words_begin() const {
    return reinterpret_cast<const uint64_t*>(data() + (prefix_bytes_ + family_bytes_ + 7) / 8 * 8);
  }
  const char* offsets_begin() const { return reinterpret_cast<const char*>(words_begin() + words_); }

  uint32_t entries_;
  uint32_t words_;
  uint64_t last_word_;  // 0 without words
  WordGuess guess_;
  uint32_t records_bytes_;
  uint32_t entry_bytes_;  // from one offset to the next on average, in units of 1 / 256
  uint32_t prefix_bytes_;
  uint16_t row_bytes_;
  uint8_t family_bytes_;
  bool dense_;
  uint64_t family_word_ = 0;              // size and bytes of the family, as in a key; 0 if they do not fit
  uint64_t family_word_unused_bits_ = 0;  // its last bits, which are not of the family
};
static_assert(sizeof(CellIndex) % sizeof(uint64_t) == 0);

// Any thread. Immutable, except the cell index, which is built at the first search in a cached block.
//
// The object and the bytes read are one piece of memory, if the block is not borrowed. The index is another:
// with room for it in between, scans of cached blocks take a third longer (1,000,000 rows of 130 bytes).
class Block final : public CachedBlock {
 public:
  struct Discard {
    void operator()(Block* block) const { delete block; }
  };
  using Made = std::unique_ptr<Block, Discard>;

  // A block with room for `buffer_bytes`, which the caller writes before finish(). Has no pins yet.
  static Made allocate(size_t buffer_bytes, bool has_priority);
  char* buffer() { return reinterpret_cast<char*>(this + 1); }
  // Its payload is bytes [payload_at, payload_at + payload_bytes) of the buffer.
  static Block* finish(Made block, size_t payload_at, size_t payload_bytes, BlockKind kind);
  // A block whose payload lies in the mapping of its file, and is not charged. Keeps the mapping.
  static Block* borrow(std::shared_ptr<const char> mapping, std::string_view payload, BlockKind kind,
                       bool has_priority);

  std::string_view payload() const { return payload_; }
  BlockKind kind() const { return kind_; }

  bool is_borrowed() const { return borrows_; }
  // The stride and the limit of the block's cell index.
  size_t index_stride_bytes() const {
    return borrows_ ? CellIndex::kStrideBytesMapped : CellIndex::kStrideBytes;
  }
  size_t index_bytes_max() const { return CellIndex::bytes_max(payload_.size(), index_stride_bytes()); }
  // Null until published.
  const CellIndex* cell_index() const { return cell_index_.load(std::memory_order_acquire); }
  // Makes the index, unless another thread was faster; without words where they would take more than the
  // block is charged for. Returns the one there is; null while the other thread is still at it.
  const CellIndex* publish(const CellIndex::Entries& entries) const;

  // Returns true if a walk saw every cell of this block in order. Later walks need not compare neighbours
  // again.
  bool in_order() const { return in_order_.load(std::memory_order_relaxed); }
  void set_in_order() const { in_order_.store(true, std::memory_order_relaxed); }

  // Notes that a read of one row, named by a hash that is not 0, uses the block. Returns whether the use
  // before was for the same row.
  bool read_again(uint32_t row_hash) const {
    if (last_row_.load(std::memory_order_relaxed) == row_hash) return true;
    last_row_.store(row_hash, std::memory_order_relaxed);
    return false;
  }

  // Objects are larger than their type says. NOLINTNEXTLINE(misc-new-delete-overloads): made in place
  static void operator delete(void* block) { BlockHeap::shared().give_back(block); }

 private:
  Block(uint64_t bytes_charged, bool has_priority) : CachedBlock(bytes_charged, has_priority) {}
  ~Block() override;
  static void* operator new(size_t, void* place) { return place; }
  void charge_index();
  // A borrowed block keeps its mapping by this pointer, in its buffer.
  using Lender = std::shared_ptr<const char>;
  Lender* lender() { return reinterpret_cast<Lender*>(buffer()); }

  std::string_view payload_;
  mutable std::atomic<const CellIndex*> cell_index_{nullptr};
  mutable std::atomic<uint32_t> last_row_{0};
  BlockKind kind_ = BlockKind::kData;
  mutable std::atomic<bool> in_order_{false};
  mutable std::atomic<bool> index_claimed_{false};
  bool borrows_ = false;
};
static_assert(sizeof(Block) % sizeof(uint64_t) == 0);

}  // namespace cellar
