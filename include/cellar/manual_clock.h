// ManualClock: a clock for Environment::clock that its owner sets.
#pragma once

#include <atomic>
#include <cstdint>

#include "cellar/environment.h"
#include "cellar/visibility.h"

namespace CELLAR_PUBLIC cellar {

// ManualClock: a wall clock that stands still until it is set. It shows timestamps and times to live without
// waiting. steady_us() is that of the machine, so that waits end. Any thread.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t wall_ms) : wall_ms_(wall_ms) {}
  // The time may step back, as that of a machine does.
  void set_ms(int64_t wall_ms) { wall_ms_ = wall_ms; }
  void add_ms(int64_t ms) { wall_ms_ += ms; }
  int64_t wall_ms() override { return wall_ms_; }
  int64_t steady_us() override { return system_clock().steady_us(); }

 private:
  std::atomic<int64_t> wall_ms_;
};

}  // namespace cellar
