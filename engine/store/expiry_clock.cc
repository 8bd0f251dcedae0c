// ExpiryClock: believes what two clocks agree on, and a step ahead after it has lasted.
#include "engine/store/expiry_clock.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/store/world.h"

namespace cellar {

void ExpiryClock::start(int64_t remembered_ms) {
  const int64_t wall = clock_.wall_ms();
  int64_t latest = wall;
  const bool limited = remembered_ms != 0 && !__builtin_add_overflow(remembered_ms, guard_ms_, &latest);
  MutexLock lock(mutex_);
  wall_ms_ = limited ? std::min(wall, latest) : wall;
  steady_us_ = clock_.steady_us();
  ahead_since_us_ = -1;
}

ExpiryClock::Reading ExpiryClock::read() {
  const int64_t wall = clock_.wall_ms();
  if (guard_ms_ == 0) return {wall, 0};
  const int64_t steady = clock_.steady_us();
  MutexLock lock(mutex_);
  const int64_t believed = wall_ms_ + (steady - steady_us_) / 1000;
  if (wall > believed + kToleranceMs) {
    if (ahead_since_us_ < 0) ahead_since_us_ = steady;
    if (steady - ahead_since_us_ < kBelievedAfterUs) return {believed, wall - believed};
  }
  wall_ms_ = wall;
  steady_us_ = steady;
  ahead_since_us_ = -1;
  return {wall, 0};
}

int64_t erase_now_ms(ExpiryClock& expiry, const World& world) {
  const ExpiryClock::Reading reading = expiry.read();
  if (reading.ahead_ms != 0)
    world.log(
        LogLevel::kWarning,
        fmt::format("the clock is {} s ahead of the time that is believed: expired cells are hidden, and "
                    "erased after the clock has said so for an hour",
                    reading.ahead_ms / 1000));
  return reading.ms;
}

}  // namespace cellar
