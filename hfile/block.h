// Block: the payload of one block in memory, checked and decompressed.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include "cache/block_cache.h"
#include "hfile/format.h"

namespace cellar {

// CellIndex: where some of a data block's cells begin, for binary search. Sparse: its bytes are at most a
// tenth of the block's. One piece of memory, so that a search touches few cache lines. Immutable.
class alignas(uint64_t) CellIndex {
 public:
  // Bytes between two entries at least; an entry takes 12 bytes.
  static constexpr size_t kStrideBytes = 128;

  // `row_prefix`: leading bytes that all rows of the block share. `words`: per entry the row_word behind the
  // prefix, or none at all. `offsets`: of the cells, ascending, where a decoder can start. `dense`: of all
  // cells.
  static std::unique_ptr<const CellIndex> make(std::string_view row_prefix, std::span<const uint64_t> words,
                                               std::span<const uint32_t> offsets, bool dense);

  size_t size() const { return entries_; }
  bool dense() const { return dense_; }
  std::span<const uint64_t> words() const { return {words_begin(), words_}; }
  uint64_t last_word() const { return last_word_; }
  uint32_t offset(size_t i) const {
    uint32_t offset;
    std::memcpy(&offset, reinterpret_cast<const char*>(words_begin() + words_) + i * sizeof offset,
                sizeof offset);
    return offset;
  }
  std::string_view row_prefix() const { return {data(), row_prefix_bytes_}; }

  // Objects are larger than their type says.
  static void operator delete(void* index) { ::operator delete(index); }

 private:
  CellIndex(uint32_t entries, uint32_t words, uint16_t row_prefix_bytes, bool dense)
      : entries_(entries), words_(words), row_prefix_bytes_(row_prefix_bytes), dense_(dense) {}
  static void* operator new(size_t, void* place) { return place; }
  // Behind this object: the prefix, room to the next multiple of 8, the words, the offsets. What a search
  // begins with lies in the first cache line.
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  const uint64_t* words_begin() const {
    return reinterpret_cast<const uint64_t*>(data() + (row_prefix_bytes_ + 7u) / 8 * 8);
  }

  uint32_t entries_;
  uint32_t words_;
  uint64_t last_word_ = 0;  // 0 without words
  uint16_t row_prefix_bytes_;
  bool dense_;
};
static_assert(sizeof(CellIndex) % sizeof(uint64_t) == 0);

// Any thread. Immutable, but for the cell index, which is built at the first search in a cached block.
class Block final : public CachedBlock {
 public:
  // A block whose payload is bytes [payload_at, payload_at + payload_bytes) of `buffer`. Has no pins yet.
  static Block* make(std::unique_ptr<char[]> buffer, size_t buffer_bytes, size_t payload_at,
                     size_t payload_bytes, BlockKind kind, uint64_t offset, bool has_priority);

  std::string_view payload() const { return payload_; }
  BlockKind kind() const { return kind_; }
  // In the file.
  uint64_t offset() const { return offset_; }

  // Null until published.
  const CellIndex* cell_index() const { return cell_index_.load(std::memory_order_acquire); }
  // Keeps `index` unless another thread was faster; returns the one that is kept.
  const CellIndex* publish(std::unique_ptr<const CellIndex> index) const;

  // Whether some walk saw every cell of this block in order: later walks need not compare neighbours again.
  bool in_order() const { return in_order_.load(std::memory_order_relaxed); }
  void set_in_order() const { in_order_.store(true, std::memory_order_relaxed); }

 private:
  Block(uint64_t bytes_charged, bool has_priority) : CachedBlock(bytes_charged, has_priority) {}
  ~Block() override;

  std::unique_ptr<char[]> buffer_;
  std::string_view payload_;
  uint64_t offset_ = 0;
  BlockKind kind_ = BlockKind::kData;
  mutable std::atomic<bool> in_order_{false};
  mutable std::atomic<const CellIndex*> cell_index_{nullptr};
};

}  // namespace cellar
