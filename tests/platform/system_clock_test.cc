// Goal: clocks go on, the steady one never back; random numbers differ.
#include <gtest/gtest.h>

#include <set>

#include "cellar/environment.h"

namespace cellar::testing {

TEST(SystemClock, GoesOn) {
  Clock& clock = system_clock();
  EXPECT_EQ(&clock, &system_clock());
  EXPECT_GT(clock.wall_ms(), 1'600'000'000'000);
  int64_t last = clock.steady_us();
  for (int i = 0; i < 1000; ++i) {
    const int64_t now = clock.steady_us();
    EXPECT_GE(now, last);
    last = now;
  }
  const int64_t begin = clock.steady_us();
  while (clock.steady_us() - begin < 2'000) {
  }
}

TEST(SystemRandom, Differs) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 100; ++i) seen.insert(system_random());
  EXPECT_EQ(seen.size(), 100U);
}

}  // namespace cellar::testing
