// Block: the payload of one block in memory, checked and decompressed.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "cache/block_cache.h"
#include "hfile/format.h"
#include "hfile/row_words.h"

namespace cellar {

// CellIndex: where some of a data block's cells begin, for binary search. Sparse: its bytes are at most a
// tenth of the block's. One piece of memory, so that a search touches few cache lines. Immutable.
class alignas(uint64_t) CellIndex {
 public:
  // Bytes between two entries at least; an entry takes 12 bytes.
  static constexpr size_t kStrideBytes = 128;

  // What an index is made of.
  struct Entries {
    std::string_view row_prefix = {};        // leading bytes that all rows of the block share
    std::span<const uint64_t> words = {};    // per entry the row_word behind the prefix, or none at all
    std::span<const uint32_t> offsets = {};  // of the cells, ascending, where a decoder can start
    bool dense = false;                      // of all cells
  };
  static const CellIndex* make(const Entries& entries);
  // Objects are larger than their type says.
  static void operator delete(void* index) { ::operator delete(index); }

  size_t size() const { return entries_; }
  bool dense() const { return dense_; }
  std::span<const uint64_t> words() const { return {words_begin(), words_}; }
  uint64_t last_word() const { return last_word_; }
  const WordGuess& guess() const { return guess_; }
  uint32_t offset(size_t i) const {
    uint32_t offset;
    std::memcpy(&offset, offsets_begin() + i * sizeof offset, sizeof offset);
    return offset;
  }
  std::string_view row_prefix() const { return {data(), row_prefix_bytes_}; }

  // Asks memory for what a search for `row` is likely to touch next, all at once: word, offset and cell where
  // the guess says. `payload` is the block's.
  void prefetch_near(std::string_view row, std::string_view payload) const;

 private:
  explicit CellIndex(const Entries& entries);
  static void* operator new(size_t, void* place) { return place; }
  static constexpr size_t prefix_room(size_t bytes) { return (bytes + 7) / 8 * 8; }
  // Behind this object: the prefix, room to the next multiple of 8, the words, the offsets. What a search
  // begins with lies in the first cache line.
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  const uint64_t* words_begin() const {
    return reinterpret_cast<const uint64_t*>(data() + prefix_room(row_prefix_bytes_));
  }
  const char* offsets_begin() const { return reinterpret_cast<const char*>(words_begin() + words_); }

  uint32_t entries_;
  uint32_t words_;
  uint64_t last_word_;  // 0 without words
  WordGuess guess_;
  uint16_t row_prefix_bytes_;
  bool dense_;
};
static_assert(sizeof(CellIndex) % sizeof(uint64_t) == 0);

// Any thread. Immutable, but for the cell index, which is built at the first search in a cached block.
//
// The object and the bytes read are one piece of memory. The index is another: with room for it in between,
// scans of cached blocks lose the stride that the processor reads ahead with, and take 1.4 times as long.
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
  static Block* finish(Made block, size_t payload_at, size_t payload_bytes, BlockKind kind, uint64_t offset);

  std::string_view payload() const { return payload_; }
  BlockKind kind() const { return kind_; }
  // In the file.
  uint64_t offset() const { return offset_; }

  // Null until published.
  const CellIndex* cell_index() const { return cell_index_.load(std::memory_order_acquire); }
  // Makes the index, unless another thread was faster. Returns the one there is; null while the other thread
  // is still at it.
  const CellIndex* publish(const CellIndex::Entries& entries) const;

  // Whether some walk saw every cell of this block in order: later walks need not compare neighbours again.
  bool in_order() const { return in_order_.load(std::memory_order_relaxed); }
  void set_in_order() const { in_order_.store(true, std::memory_order_relaxed); }

  // Objects are larger than their type says.
  static void operator delete(void* block) { ::operator delete(block); }

 private:
  Block(uint64_t bytes_charged, bool has_priority) : CachedBlock(bytes_charged, has_priority) {}
  ~Block() override;
  static void* operator new(size_t, void* place) { return place; }

  std::string_view payload_;
  mutable std::atomic<const CellIndex*> cell_index_{nullptr};
  uint64_t offset_ = 0;
  BlockKind kind_ = BlockKind::kData;
  mutable std::atomic<bool> in_order_{false};
  mutable std::atomic<bool> index_claimed_{false};
};
static_assert(sizeof(Block) % sizeof(uint64_t) == 0);

}  // namespace cellar
