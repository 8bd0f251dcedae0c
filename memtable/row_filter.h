// RowFilter: which rows a memtable may hold; a blocked Bloom filter that grows by whole segments.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/hash.h"

namespace cellar {

// One thread may add, ordered by the caller; any thread may ask.
//
// A segment holds blocks of 32 bytes; a row sets one bit in each of the eight words of one block (at 16 bits
// a row about 3 wrong "maybe" in 1,000). A full segment stays as it is and one four times as large takes the
// rows to come, so that nothing is ever rehashed or moved: a million rows are in 6 segments, of which all but
// the last two are small.
//
// Memory order: whoever asks for a row after it was added has learned of it through something that orders the
// two, so the bits may be relaxed. The pointer to a segment is stored with release after its words were
// zeroed.
class RowFilter {
 public:
  RowFilter() = default;

  // Where a row's bits are, worked out before they are needed so that the block can be fetched meanwhile.
  struct Hashed {
    uint64_t hash = 0;
  };
  Hashed hashed(std::string_view row) const {
    const Hashed result{hash64(row)};
    if (used_ > 0) {
      const Segment& last = *segments_[used_ - 1].load(std::memory_order_relaxed);
      __builtin_prefetch(&last.words[8 * last.block_of(result.hash)], 1);
    }
    return result;
  }
  // Adds a row; inserter only.
  void add(Hashed row);

  // False only when the row was not added. Any thread.
  bool may_contain(std::string_view row) const;

  // Any thread.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  ~RowFilter();
  RowFilter(const RowFilter&) = delete;
  RowFilter& operator=(const RowFilter&) = delete;

 private:
  struct Segment {
    explicit Segment(uint64_t rows_max);
    uint64_t block_of(uint64_t hash) const { return ((hash >> 32) * blocks) >> 32; }
    bool contains(uint64_t hash) const;
    void set(uint64_t hash);

    uint64_t rows = 0;  // inserter only
    uint64_t rows_max;
    uint64_t blocks;
    std::unique_ptr<std::atomic<uint32_t>[]> words;
  };
  static constexpr size_t kSegmentsMax = 13;  // 1,024 rows, then four times as many each

  void grow();

  std::array<std::atomic<Segment*>, kSegmentsMax> segments_{};
  size_t used_ = 0;  // inserter only
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace cellar
