// RowFilter: the rows that a memtable may hold; a blocked Bloom filter that grows by whole segments.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/hash.h"

namespace cellar {

// One thread may add, ordered by the caller; any thread may read.
//
// A segment holds blocks of 32 bytes. A row sets two bits in each of the four words of one block, one in
// each half. At 16 bits per row about 3 of 1,000 answers are false positives. A full segment stays unchanged.
// A segment four times as large takes the next rows, so nothing is ever rehashed or moved. A million rows are
// in 6 segments, of which all but the last two are small.
//
// Memory order: a reader that asks for a row after it was added has learned of the row through an
// operation that orders the two. So the bits may be relaxed. The pointer to a segment is stored with
// release after its words were zeroed.
class RowFilter {
 public:
  RowFilter() = default;

  // Hashed: the position of a row's bits, computed before it is needed, so that the block can be fetched
  // meanwhile.
  struct Hashed {
    uint64_t hash = 0;
  };
  Hashed hashed(std::string_view row) const {
    const Hashed result{hash64(row)};
    if (used_ > 0) {
      const Segment& last = *segments_[used_ - 1].load(std::memory_order_relaxed);
      __builtin_prefetch(&last.words[kBlockWords * last.block_of(result.hash)], 1);
    }
    return result;
  }
  // Adds a row; inserter only.
  void add(Hashed row);

  // Returns false only if the row was not added. Any thread.
  bool may_contain(std::string_view row) const {
    return segments_[0].load(std::memory_order_acquire) != nullptr && find(row);
  }

  // Returns the bytes of memory. Any thread.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  ~RowFilter();
  RowFilter(const RowFilter&) = delete;
  RowFilter& operator=(const RowFilter&) = delete;

 private:
  struct Segment {
    explicit Segment(uint64_t rows_max);
    uint64_t block_of(uint64_t hash) const { return ((hash >> 32) * blocks) >> 32; }
    bool contains(uint64_t hash) const;
    // Sets the bits of a row. Returns false if all of them were set before.
    bool set(uint64_t hash);

    uint64_t rows_max;
    uint64_t blocks;
    std::unique_ptr<std::atomic<uint64_t>[]> words;
  };
  static constexpr uint64_t kBlockBits = 256;
  static constexpr size_t kBlockWords = kBlockBits / 64;
  static constexpr size_t kSegmentsMax = 13;  // 1,024 rows in the first, then four times as many in each

  bool find(std::string_view row) const;
  void grow();

  std::array<std::atomic<Segment*>, kSegmentsMax> segments_{};
  size_t used_ = 0;  // inserter only
  std::atomic<uint64_t> bytes_{0};
  alignas(64) uint64_t rows_ = 0;  // in the last segment; inserter only. Readers have no use for its line
};

}  // namespace cellar
