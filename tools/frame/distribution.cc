// Counting values in bounded memory.
#include "tools/frame/distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cellar {
namespace {

// The first coarse level of sizes keeps this many leading bits: at most 64 << 9 buckets, each under 0.4 %
// wide.
constexpr int kLeadingBits = 9;

}  // namespace

int Distribution::dropped_bits(int64_t value) const {
  if (coarsening_ == Coarsening::kAbsolute) return level_;
  const int bits = 64 - std::countl_zero(static_cast<uint64_t>(value));
  return std::max(0, bits - level_);
}

int64_t Distribution::coarse_low(int64_t value) const {
  const int dropped = dropped_bits(value);
  return dropped == 0 ? value : (value >> dropped) * (int64_t{1} << dropped);
}

int64_t Distribution::high_of(int64_t low) const {
  if (level_ == 0) return low;
  return low + ((int64_t{1} << dropped_bits(low)) - 1);
}

void Distribution::note(int64_t value) {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  sum_ += static_cast<double>(value);
  ++count_;
}

void Distribution::coarsen() {
  while (buckets_.size() > values_max_) {
    if (coarsening_ == Coarsening::kAbsolute) {
      ++level_;
    } else {
      level_ = level_ == 0 ? kLeadingBits : std::max(1, level_ - 1);
    }
    std::unordered_map<int64_t, uint64_t> wider;
    for (const auto& [low, count] : buckets_) wider[coarse_low(low)] += count;
    const bool stuck = wider.size() == buckets_.size() && level_ == 1 && coarsening_ == Coarsening::kRelative;
    buckets_ = std::move(wider);
    if (stuck) return;
  }
}

std::vector<ValueBucket> Distribution::buckets() const {
  std::vector<ValueBucket> all;
  all.reserve(buckets_.size());
  for (const auto& [low, count] : buckets_)
    all.push_back({std::max(low, min_), std::min(high_of(low), max_), count});
  std::ranges::sort(all, {}, &ValueBucket::low);
  return all;
}

std::optional<ValueBucket> percentile(const std::vector<ValueBucket>& ascending, double percent) {
  uint64_t count = 0;
  for (const ValueBucket& bucket : ascending) count += bucket.count;
  if (count == 0) return std::nullopt;
  const double exact_rank = std::ceil(percent / 100 * static_cast<double>(count));
  const uint64_t rank = std::max<uint64_t>(1, static_cast<uint64_t>(exact_rank));
  uint64_t passed = 0;
  for (const ValueBucket& bucket : ascending) {
    passed += bucket.count;
    if (passed >= rank) return bucket;
  }
  return ascending.back();
}

std::vector<ValueBucket> ages_of(const std::vector<ValueBucket>& times, int64_t now) {
  std::vector<ValueBucket> ages;
  ages.reserve(times.size());
  const auto age = [now](int64_t time) {
    int64_t difference = 0;
    return __builtin_sub_overflow(now, time, &difference) ? (time < 0 ? INT64_MAX : INT64_MIN) : difference;
  };
  for (auto at = times.rbegin(); at != times.rend(); ++at)
    ages.push_back({age(at->high), age(at->low), at->count});
  return ages;
}

std::vector<ValueBucket> doubling_bars(const std::vector<ValueBucket>& ascending) {
  constexpr int kBars = 65;  // below zero, zero, one for each of 63 leading bits
  uint64_t counts[kBars] = {};
  for (const ValueBucket& bucket : ascending)
    counts[bucket.high < 0 ? 0 : 1 + (64 - std::countl_zero(static_cast<uint64_t>(bucket.high)))] +=
        bucket.count;
  int first = kBars;
  int last = -1;
  for (int i = 0; i < kBars; ++i) {
    if (counts[i] == 0) continue;
    first = std::min(first, i);
    last = i;
  }
  std::vector<ValueBucket> bars;
  for (int i = first; i <= last; ++i) {
    const int bits = i - 1;  // of the values in this bar
    if (bits < 0) {
      bars.push_back({INT64_MIN, -1, counts[i]});
    } else if (bits == 0) {
      bars.push_back({0, 0, counts[i]});
    } else {
      const int64_t low = int64_t{1} << (bits - 1);
      bars.push_back({low, low + (low - 1), counts[i]});
    }
  }
  return bars;
}

}  // namespace cellar
