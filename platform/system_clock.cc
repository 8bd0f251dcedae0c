// The operating system's clocks and its source of entropy.
#include <sys/random.h>
#include <time.h>

#include <cstdint>

#include "base/assert.h"
#include "cellar/environment.h"
#include "platform/posix_support.h"

namespace cellar {

namespace {

int64_t micros_of(clockid_t clock) {
  timespec now{};
  CELLAR_ASSERT(clock_gettime(clock, &now) == 0);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

class SystemClock final : public Clock {
 public:
  int64_t wall_ms() override { return micros_of(CLOCK_REALTIME) / 1000; }
  int64_t steady_us() override { return micros_of(CLOCK_MONOTONIC); }
};

}  // namespace

Clock& system_clock() {
  static auto* clock = new SystemClock();  // never destroyed: other threads may outlive main()
  return *clock;
}

uint64_t system_random() {
  uint64_t number = 0;
  const ssize_t got = posix::uninterrupted([&] { return getrandom(&number, sizeof number, 0); });
  CELLAR_ASSERT(got == static_cast<ssize_t>(sizeof number));
  return number;
}

}  // namespace cellar
