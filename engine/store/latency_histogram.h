// LatencyHistogram: times in nanoseconds, added by any thread, read at any moment.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "base/raise_to.h"

namespace cellar {

// Log-linear: 16 slots for each power of two up to 2^47 ns, which is 39 hours. The middle of a slot
// is at most 3.2 % off. Later times are in the last slot. Any thread.
class LatencyHistogram {
 public:
  static constexpr int kStepBits = 4;
  static constexpr uint64_t kSteps = uint64_t{1} << kStepBits;
  static constexpr int kBits = 47;
  static constexpr size_t kSlots = (kBits - kStepBits + 1) << kStepBits;

  void add(uint64_t nanos) {
    slots_[slot_of(nanos)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(nanos, std::memory_order_relaxed);
    raise_to(max_, nanos, std::memory_order_relaxed);
  }

  uint64_t count(size_t slot) const { return slots_[slot].load(std::memory_order_relaxed); }
  uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }
  uint64_t max() const { return max_.load(std::memory_order_relaxed); }

  static size_t slot_of(uint64_t nanos) {
    if (nanos < kSteps) return nanos;
    const int shift = static_cast<int>(std::bit_width(nanos)) - 1 - kStepBits;
    const size_t slot = (static_cast<size_t>(shift + 1) << kStepBits) + ((nanos >> shift) - kSteps);
    return std::min(slot, kSlots - 1);
  }
  // Returns the middle of a slot in nanoseconds.
  static double middle(size_t slot) {
    CELLAR_DCHECK(slot < kSlots);
    if (slot < kSteps) return static_cast<double>(slot);
    const auto shift = static_cast<int>(slot >> kStepBits) - 1;
    const uint64_t low = (kSteps + (slot & (kSteps - 1))) << shift;
    return static_cast<double>(low) + static_cast<double>((uint64_t{1} << shift) - 1) / 2;
  }

 private:
  std::array<std::atomic<uint64_t>, kSlots> slots_ = {};
  std::atomic<uint64_t> sum_{0};
  std::atomic<uint64_t> max_{0};
};

}  // namespace cellar
