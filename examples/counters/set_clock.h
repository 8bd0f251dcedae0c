// A clock that a program sets, so that times to live pass without waiting.
#pragma once

#include <atomic>
#include <cstdint>

#include "cellar/environment.h"

namespace example {

// Timestamps and times to live follow the set time. Waiting follows the machine's clock. Any thread.
class SetClock : public cellar::Clock {
 public:
  explicit SetClock(int64_t now_ms) : now_ms_(now_ms) {}
  void set(int64_t now_ms) { now_ms_ = now_ms; }
  int64_t wall_ms() override { return now_ms_; }
  int64_t steady_us() override { return cellar::system_clock().steady_us(); }

 private:
  std::atomic<int64_t> now_ms_;
};

}  // namespace example
