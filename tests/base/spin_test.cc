// Goal: a short wait looks often enough, ends with the first look that finds what it waits for, and gives up.
#include "base/spin.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace cellar::testing {
namespace {

// Returns how often a wait looks whose end comes at the given look.
int looks_until(int end, bool& came) {
  int looks = 0;
  came = spin_until([&] { return ++looks == end; });
  return looks;
}

TEST(Spin, EndsWithTheLookThatFindsTheEnd) {
  bool came = false;
  const int all = looks_until(0, came);
  EXPECT_FALSE(came);
  EXPECT_GT(all, 200) << "it looks after yields, too";
  EXPECT_LT(all, 1000) << "longer waits are for sleepers";
  for (const int end : {1, 2, 200, 201, all}) {
    EXPECT_EQ(looks_until(end, came), end);
    EXPECT_TRUE(came) << end;
  }
}

// A thread that needs the processor of the waiting one gets it.
TEST(Spin, SeesWhatAnotherThreadDoes) {
  std::atomic<int> turn{0};
  constexpr int kTurns = 2000;
  const auto play = [&](int parity) {
    for (int i = parity; i < kTurns; i += 2) {
      while (!spin_until([&] { return turn.load() == i; })) std::this_thread::yield();
      turn.store(i + 1);
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), kTurns);
}

}  // namespace
}  // namespace cellar::testing
