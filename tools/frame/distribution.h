// Distribution: how often each value occurs. It is exact while there are few different values. Later, values
// share narrow buckets. The count of each bucket is exact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cellar {

// Values from `low` to `high`, both included; equal while the distribution is exact.
struct ValueBucket {
  int64_t low = 0;
  int64_t high = 0;
  uint64_t count = 0;

  bool operator==(const ValueBucket&) const = default;
};

// How values share a bucket once there are too many different ones.
enum class Coarsening : uint8_t {
  kRelative,  // keeps the leading bits of a value: for sizes and counts, not negative
  kAbsolute,  // buckets of one width, a power of two: for times
};

// A value; memory is bounded by `values_max` buckets. Count, sum and both ends are always exact.
class Distribution {
 public:
  static constexpr size_t kValuesMax = 65536;
  explicit Distribution(Coarsening coarsening = Coarsening::kRelative, size_t values_max = kValuesMax)
      : coarsening_(coarsening), values_max_(values_max) {}

  void add(int64_t value) {
    ++buckets_[low_of(value)];
    note(value);
    if (buckets_.size() > values_max_) coarsen();
  }

  uint64_t count() const { return count_; }
  int64_t min() const { return min_; }
  int64_t max() const { return max_; }
  double sum() const { return sum_; }
  bool exact() const { return level_ == 0; }
  // Ascending, none empty.
  std::vector<ValueBucket> buckets() const;

 private:
  int64_t low_of(int64_t value) const { return level_ == 0 ? value : coarse_low(value); }
  int64_t coarse_low(int64_t value) const;
  int64_t high_of(int64_t low) const;
  int dropped_bits(int64_t value) const;
  void note(int64_t value);
  void coarsen();

  Coarsening coarsening_;
  size_t values_max_;
  int level_ = 0;  // relative: leading bits kept, absolute: bits dropped; 0: exact
  std::unordered_map<int64_t, uint64_t> buckets_;
  uint64_t count_ = 0;
  int64_t min_ = 0;
  int64_t max_ = 0;
  double sum_ = 0;
};

// The bucket of the value at this rank in a hundred (nearest rank); the value is at most its `high`. None for
// no values.
std::optional<ValueBucket> percentile(const std::vector<ValueBucket>& ascending, double percent);

// The distribution of `now - value`, ascending.
std::vector<ValueBucket> ages_of(const std::vector<ValueBucket>& times, int64_t now);

// Returns the bars of a chart: 0, 1, 2-3, 4-7, 8-15, and so on, from the first to the last that holds a
// value. Values below zero are in the first bar, -1. A bucket that lies in two bars counts in the higher one.
std::vector<ValueBucket> doubling_bars(const std::vector<ValueBucket>& ascending);

}  // namespace cellar
