// FrequencySketch: how often each block was asked for lately, roughly and in little memory.
//
// A count-min sketch (Cormode and Muthukrishnan, 2005) of four rows. Its counters have 4 bits and are halved
// now and then (Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cellar {

// One thread at a time. Takes 8 bytes for each block that it is sized for.
class FrequencySketch {
 public:
  static constexpr uint64_t kCountMax = 15;
  static constexpr uint64_t kBlocksMin = 16;
  static constexpr uint64_t kCountersPerBlock = 4;    // in each row
  static constexpr uint64_t kAdditionsPerBlock = 10;  // between two halvings

  FrequencySketch() { counters_.resize(kRows * width_ / kCountersPerWord); }

  // Sizes the sketch for at least so many blocks. The counts stay: a wider row repeats the counters
  // of the narrower one. Never shrinks.
  void grow_to(uint64_t blocks);

  void add(uint64_t id);
  // Returns at most kCountMax; too high if other blocks share all counters of this one.
  uint64_t count(uint64_t id) const;

 private:
  static constexpr size_t kRows = 4;
  static constexpr size_t kCountersPerWord = 16;
  struct Counter {
    size_t word = 0;
    unsigned shift = 0;
  };
  std::array<Counter, kRows> counters_of(uint64_t id) const;
  void halve();

  uint64_t width_ = kBlocksMin * kCountersPerBlock;  // counters of a row, a power of two
  uint64_t additions_ = 0;                           // since the last halving
  std::vector<uint64_t> counters_;                   // row by row
};

}  // namespace cellar
