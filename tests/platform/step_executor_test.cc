// Goal: the StepExecutor runs one thread at a time, repeats an interleaving by its seed, and finds all
// orders. It moves time only when no thread can run. It ends with a listing where a program can never go on.
#include "tests/support/step_executor.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace cellar::testing {

namespace {

// Two threads and two jobs append their letters around checkpoints.
std::string interleaving(uint64_t seed, std::string* schedule = nullptr) {
  ManualClock clock;
  StepExecutor executor(seed, clock);
  std::string text;
  const auto steps = [&](char letter) {
    for (int i = 0; i < 3; ++i) {
      text.push_back(letter);
      executor.checkpoint();
    }
  };
  executor.run_beside("a", [&] { steps('a'); });
  executor.run_beside("b", [&] { steps('b'); });
  executor.submit(JobPriority::kHigh, [&] { steps('h'); });
  executor.submit(JobPriority::kLow, [&] { steps('l'); });
  steps('m');
  executor.finish();
  if (schedule != nullptr) *schedule = executor.schedule();
  return text;
}

}  // namespace

TEST(StepExecutor, ASeedIsAnInterleaving) {
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    std::string first, second;
    const std::string text = interleaving(seed, &first);
    EXPECT_EQ(text.size(), 15U);
    EXPECT_EQ(interleaving(seed, &second), text) << "seed " << seed;
    EXPECT_EQ(first, second);
    seen.insert(text);
  }
  EXPECT_GT(seen.size(), 95U) << "different seeds, different orders";
}

TEST(StepExecutor, FindsEveryOrderOfAFewSteps) {
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    ManualClock clock;
    StepExecutor executor(seed, clock);
    std::string text;
    for (const char letter : {'a', 'b', 'c'}) {
      executor.run_beside(std::string(1, letter), [&, letter] { text.push_back(letter); });
    }
    executor.join_beside();
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(StepExecutor, OnlyOneRunsAtATime) {
  ManualClock clock;
  StepExecutor executor(5, clock);
  int inside = 0;  // no atomic: the baton must be enough, as TSan confirms
  for (int i = 0; i < 5; ++i) {
    executor.submit(JobPriority::kHigh, [&] {
      for (int j = 0; j < 50; ++j) {
        EXPECT_EQ(++inside, 1);
        --inside;
        executor.checkpoint();
      }
    });
  }
  executor.finish();
}

TEST(StepExecutor, JobsOfAPriorityStartInOrderWithinTheirLimit) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    ManualClock clock;
    StepExecutor executor({.seed = seed, .high = 1, .low = 2}, clock);
    std::string high, low;
    int low_running = 0;
    for (int i = 0; i < 5; ++i) {
      executor.submit(JobPriority::kHigh, [&, i] {
        high += std::to_string(i);
        executor.checkpoint();
        high += '.';
      });
      executor.submit(JobPriority::kLow, [&, i] {
        low += std::to_string(i);
        EXPECT_LE(++low_running, 2);
        executor.checkpoint();
        --low_running;
      });
    }
    executor.finish();
    EXPECT_EQ(high, "0.1.2.3.4.");
    EXPECT_EQ(low, "01234");
  }
}

TEST(StepExecutor, EventsWakeThoseWhoWaitAndLoseNothing) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    ManualClock clock;
    StepExecutor executor(seed, clock);
    const auto event = executor.make_event();
    std::vector<int> queue;
    int taken = 0;
    executor.run_beside("consumer", [&] {
      while (taken < 20) {
        const uint64_t seen = event->count();
        if (queue.empty()) {
          event->wait(seen, -1);
        } else {
          EXPECT_EQ(queue.back(), taken++);
          queue.pop_back();
        }
      }
    });
    for (int i = 0; i < 20; ++i) {
      while (!queue.empty()) executor.checkpoint();
      queue.push_back(i);
      event->signal();
    }
    executor.join_beside();
    EXPECT_EQ(taken, 20);
    EXPECT_EQ(clock.steady_us(), 0);
  }
}

TEST(StepExecutor, TimeMovesOnlyWhenNobodyCanRun) {
  ManualClock clock;
  StepExecutor executor(7, clock);
  const auto event = executor.make_event();
  std::string text;
  executor.run_beside("late", [&] {
    event->wait(0, 600'000'000);  // ten minutes
    text += "late@" + std::to_string(clock.steady_us()) + " ";
  });
  executor.run_beside("early", [&] {
    executor.pause_us(1'000);
    text += "early@" + std::to_string(clock.steady_us()) + " ";
  });
  for (int i = 0; i < 100; ++i) executor.checkpoint();
  EXPECT_EQ(clock.steady_us(), 0);
  executor.settle();
  EXPECT_EQ(clock.steady_us(), 0) << "settling does not let time pass";
  executor.finish();
  EXPECT_EQ(text, "early@1000 late@600000000 ");
}

TEST(StepExecutor, LaterJobsRunWhenTimePassesAndAreNotWaitedFor) {
  ManualClock clock;
  std::vector<int64_t> ran_us;
  {
    StepExecutor executor(3, clock);
    for (const int64_t delay_us : {500, 100, 9000})
      executor.submit_later(JobPriority::kLow, delay_us, [&] { ran_us.push_back(clock.steady_us()); });
    executor.settle();
    EXPECT_TRUE(ran_us.empty());
    executor.pause_us(300);
    EXPECT_EQ(ran_us, (std::vector<int64_t>{100}));
    clock.advance_us(400);
    executor.settle();
    EXPECT_EQ(ran_us, (std::vector<int64_t>{100, 700}));
  }
  EXPECT_EQ(ran_us.size(), 2u) << "its end drops what is not due";
}

TEST(StepExecutor, ATimeoutThatATestPassesByHandWakes) {
  ManualClock clock;
  StepExecutor executor(7, clock);
  bool woken = false;
  executor.run_beside("sleeper", [&] {
    executor.pause_us(1'000);
    woken = true;
  });
  executor.settle();
  EXPECT_FALSE(woken);
  clock.advance_us(1'000);
  executor.settle();
  EXPECT_TRUE(woken);
}

TEST(StepExecutor, SubmittingUnderALockOnlyQueues) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ManualClock clock;
    StepExecutor executor(seed, clock);
    Mutex mutex;
    int ran = 0;
    {
      const MutexLock lock(mutex);
      for (int i = 0; i < 3; ++i) {
        executor.submit(JobPriority::kHigh, [&] {
          const MutexLock inner(mutex);
          ++ran;
        });
      }
      EXPECT_EQ(ran, 0);
    }
    executor.finish();
    EXPECT_EQ(ran, 3);
  }
}

TEST(StepExecutor, ItsEndRunsWhatIsLeft) {
  ManualClock clock;
  int ran = 0;
  {
    StepExecutor executor(3, clock);
    for (int i = 0; i < 10; ++i) {
      executor.submit(JobPriority::kLow, [&] {
        executor.pause_us(10);
        executor.submit(JobPriority::kHigh, [&] { ++ran; });
      });
    }
  }
  EXPECT_EQ(ran, 10);
}

TEST(StepExecutor, Nests) {
  ManualClock clock;
  StepExecutor outer(1, clock);
  {
    ManualClock other;
    StepExecutor inner(1, other);
    inner.submit(JobPriority::kHigh, [&] { inner.checkpoint(); });
    inner.finish();
  }
  outer.submit(JobPriority::kHigh, [&] { outer.checkpoint(); });
  outer.finish();
}

class StepExecutorDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(StepExecutorDeathTest, DeadlockIsListed) {
  EXPECT_DEATH(
      {
        ManualClock clock;
        StepExecutor executor(1, clock);
        const auto event = executor.make_event();
        executor.submit(JobPriority::kHigh, [&] { event->wait(0, -1); });
        executor.finish();
      },
      "nobody can ever run again(.|\n)*job 1 \\(high\\): waiting for an event beyond 0");
}

TEST_F(StepExecutorDeathTest, WaitingWithALockIsRefused) {
  EXPECT_DEATH(
      {
        ManualClock clock;
        StepExecutor executor(1, clock);
        Mutex mutex;
        const MutexLock lock(mutex);
        executor.checkpoint();
      },
      "checkpoint\\(\\) while this thread holds a Mutex");
}

TEST_F(StepExecutorDeathTest, StrangersAreRefused) {
  EXPECT_DEATH(
      {
        ManualClock clock;
        StepExecutor executor(1, clock);
        std::thread stranger([&] { executor.checkpoint(); });
        stranger.join();
      },
      "does not take part");
}

TEST_F(StepExecutorDeathTest, GoingRoundInCirclesEnds) {
  EXPECT_DEATH(
      {
        ManualClock clock;
        StepExecutor executor({.steps_max = 1000}, clock);
        executor.submit(JobPriority::kLow, [&] {
          while (true) executor.pause_us(10);
        });
        executor.finish();
      },
      "steps_max");
}

}  // namespace cellar::testing
