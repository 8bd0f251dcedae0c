// FrequencySketch: counters of 4 bits, sixteen to a word.
#include "cache/frequency_sketch.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar {
namespace {

// splitmix64's mixing step: all bits of the result depend on all bits of `x`.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

std::array<FrequencySketch::Counter, FrequencySketch::kRows> FrequencySketch::counters_of(uint64_t id) const {
  std::array<Counter, kRows> counters;
  for (size_t row = 0; row < kRows; ++row) {
    const uint64_t at = mixed(id + (row + 1) * 0x9e3779b97f4a7c15) & (width_ - 1);
    counters[row] = {.word = (row * width_ + at) / kCountersPerWord,
                     .shift = static_cast<unsigned>(at % kCountersPerWord) * 4};
  }
  CELLAR_ASSERT(counters[kRows - 1].word < counters_.size());
  return counters;
}

void FrequencySketch::add(uint64_t id) {
  for (const Counter& counter : counters_of(id)) {
    uint64_t& word = counters_[counter.word];
    if (((word >> counter.shift) & kCountMax) < kCountMax) word += uint64_t{1} << counter.shift;
  }
  if (++additions_ >= width_ / kCountersPerBlock * kAdditionsPerBlock) halve();
}

uint64_t FrequencySketch::count(uint64_t id) const {
  uint64_t least = kCountMax;
  for (const Counter& counter : counters_of(id))
    least = std::min(least, (counters_[counter.word] >> counter.shift) & kCountMax);
  return least;
}

void FrequencySketch::halve() {
  for (uint64_t& word : counters_) word = (word >> 1) & 0x7777777777777777;
  additions_ /= 2;
}

void FrequencySketch::grow_to(uint64_t blocks) {
  while (width_ < blocks * kCountersPerBlock) {
    std::vector<uint64_t> wider;
    wider.reserve(counters_.size() * 2);
    const auto words = static_cast<std::ptrdiff_t>(width_ / kCountersPerWord);
    for (size_t row = 0; row < kRows; ++row) {
      const auto begin = counters_.begin() + static_cast<std::ptrdiff_t>(row) * words;
      wider.insert(wider.end(), begin, begin + words);
      wider.insert(wider.end(), begin, begin + words);
    }
    counters_ = std::move(wider);
    width_ *= 2;
  }
  CELLAR_ASSERT(counters_.size() == kRows * width_ / kCountersPerWord);
}

}  // namespace cellar
