// Histogram: times in nanoseconds, log-linear: 32 steps to each power of two, so at most 3 % off.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace cellar::bench {

// One thread at a time; merge with +=.
class Histogram {
 public:
  void add(uint64_t value) {
    ++counts_[slot(value)];
    ++total_;
    max_ = std::max(max_, value);
  }
  Histogram& operator+=(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    max_ = std::max(max_, other.max_);
    return *this;
  }
  uint64_t total() const { return total_; }
  uint64_t max() const { return max_; }
  // The middle of the step below which the fraction lies, never more than max().
  double quantile(double fraction) const {
    const auto wanted = static_cast<uint64_t>(fraction * static_cast<double>(total_));
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return std::min(middle(i), static_cast<double>(max_));
    }
    return static_cast<double>(max_);
  }

 private:
  static constexpr int kStepBits = 5;
  static constexpr uint64_t kSteps = uint64_t{1} << kStepBits;

  static size_t slot(uint64_t value) {
    if (value < kSteps) return value;
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kStepBits;
    return (static_cast<size_t>(shift + 1) << kStepBits) + ((value >> shift) - kSteps);
  }
  static double middle(size_t slot) {
    if (slot < kSteps) return static_cast<double>(slot);
    const auto shift = static_cast<int>(slot >> kStepBits) - 1;
    const uint64_t low = (kSteps + (slot & (kSteps - 1))) << shift;
    return static_cast<double>(low) + static_cast<double>(uint64_t{1} << shift) / 2;
  }

  std::vector<uint64_t> counts_ = std::vector<uint64_t>((65 - kStepBits) << kStepBits);
  uint64_t total_ = 0;
  uint64_t max_ = 0;
};

}  // namespace cellar::bench
