// ManualClock: a clock that stands still until a test moves it.
#pragma once

#include <atomic>
#include <cstdint>

#include "cellar/environment.h"

namespace cellar::testing {

// Any thread. Starts at 2023-11-14 22:13:20 UTC (1700000000000 ms), steady time 0.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t wall_ms = 1'700'000'000'000) : wall_offset_us_(wall_ms * 1000) {}

  int64_t wall_ms() override { return (steady_us_.load() + wall_offset_us_.load()) / 1000; }
  int64_t steady_us() override { return steady_us_.load(); }

  // Moves both clocks on.
  void advance_us(int64_t us) { steady_us_.fetch_add(us); }
  void advance_ms(int64_t ms) { advance_us(ms * 1000); }
  // Sets the wall clock alone, backwards too, as an operator or a time server does.
  void set_wall_ms(int64_t wall_ms) { wall_offset_us_.store(wall_ms * 1000 - steady_us_.load()); }

 private:
  std::atomic<int64_t> steady_us_{0};
  std::atomic<int64_t> wall_offset_us_;
};

}  // namespace cellar::testing
