// ExpiryClock: believes what two clocks agree on, and a step ahead after it has lasted.
#include "engine/store/expiry_clock.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "engine/store/world.h"

namespace cellar {
namespace {

// a + b, or the greatest number.
int64_t add_up_to_max(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

}  // namespace

void ExpiryClock::start(const Memory& remembered) {
  const int64_t wall = clock_.wall_ms();
  const bool limited = remembered.wall_ms != 0 && guard_ms_ != 0;
  const int64_t latest = limited ? add_up_to_max(remembered.wall_ms, guard_ms_) : INT64_MAX;
  MutexLock lock(mutex_);
  steady_us_ = clock_.steady_us();
  ahead_since_us_ = 0;
  doubted_ms_ = 0;
  wall_ms_ = wall;
  if (wall <= latest) return;
  wall_ms_ = remembered.wall_ms;
  CELLAR_ASSERT(wall_ms_ <= wall);
  // The doubt goes on where the store was closed in it: the wall clock has gone on meanwhile.
  const int64_t doubted = remembered.doubted_ms;
  const bool same_doubt = doubted > 0 && doubted <= wall && wall <= add_up_to_max(doubted, guard_ms_);
  const int64_t lasted_ms = same_doubt ? std::min(wall - doubted, kBelievedAfterUs / 1000) : 0;
  ahead_since_us_ = steady_us_ - lasted_ms * 1000;
  doubted_ms_ = same_doubt ? doubted : wall;
}

ExpiryClock::Reading ExpiryClock::read_locked() {
  const int64_t wall = clock_.wall_ms();
  if (guard_ms_ == 0) return {wall, 0};
  const int64_t steady = clock_.steady_us();
  const int64_t believed = wall_ms_ + (steady - steady_us_) / 1000;
  if (wall > believed + kToleranceMs) {
    if (doubted_ms_ == 0) {
      ahead_since_us_ = steady;
      doubted_ms_ = wall;
    }
    if (steady - ahead_since_us_ < kBelievedAfterUs) return {believed, wall - believed};
  }
  wall_ms_ = wall;
  steady_us_ = steady;
  doubted_ms_ = 0;
  return {wall, 0};
}

ExpiryClock::Reading ExpiryClock::read() {
  MutexLock lock(mutex_);
  return read_locked();
}

ExpiryClock::Memory ExpiryClock::memory() {
  MutexLock lock(mutex_);
  const Reading now = read_locked();
  return {now.ms, doubted_ms_};
}

int64_t erase_now_ms(ExpiryClock& expiry, const World& world) {
  const ExpiryClock::Reading reading = expiry.read();
  if (reading.ahead_ms != 0)
    world.log(LogLevel::kWarning,
              fmt::format("the clock is {} s ahead of the expected time: expired cells are hidden; they are "
                          "erased after the clock has kept this time for an hour",
                          reading.ahead_ms / 1000));
  return reading.ms;
}

}  // namespace cellar
