// Goal: the watch looks again after each call for it, also after one that comes during a look. Looks that
// scans ask for are a second apart. After stop(), nothing of the engine is used.
// Method: two threads for jobs, and many orders of their steps.
#include "engine/jobs/idle_watch.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

// Other threads run before a job is queued for later. No job may come once the engine is gone.
class Watched final : public Executor {
 public:
  explicit Watched(StepExecutor& steps) : steps_(steps) {}
  void submit(JobPriority priority, std::function<void()> job) override {
    EXPECT_FALSE(gone);
    steps_.submit(priority, std::move(job));
  }
  void submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) override {
    steps_.checkpoint();
    EXPECT_FALSE(gone);
    steps_.submit_later(priority, delay_us, std::move(job));
  }
  void checkpoint() override { steps_.checkpoint(); }
  std::unique_ptr<Event> make_event() override { return steps_.make_event(); }

  bool gone = false;

 private:
  StepExecutor& steps_;
};

TEST(IdleWatch, ACallDuringALookIsNotLost) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    ManualClock clock;
    StepExecutor steps({.seed = seed, .high = 1, .low = 2}, clock);
    const auto event = steps.make_event();
    int looks = 0;
    IdleWatch watch(clock, steps, *event, [&]() -> std::optional<int64_t> {
      for (int i = 0; i < 3; ++i) steps.checkpoint();
      ++looks;
      return std::nullopt;
    });
    for (int call = 0; call < 4; ++call) {
      watch.hurry();
      if (call % 2 == 1) watch.note();
      steps.checkpoint();
    }
    steps.pause_us(5'000'000);
    steps.settle();
    const int before = looks;
    EXPECT_GE(before, 1);
    watch.hurry();
    steps.pause_us(1'100'000);
    steps.settle();
    EXPECT_EQ(looks, before + 1) << "seed " << seed;
    watch.note();
    steps.pause_us(2 * IdleWatch::kSettleUs);
    steps.settle();
    EXPECT_GT(looks, before + 1) << "seed " << seed;
    watch.stop();
  }
}

TEST(IdleWatch, HurriedLooksAreASecondApart) {
  ManualClock clock;
  StepExecutor steps(3, clock);
  const auto event = steps.make_event();
  int looks = 0;
  IdleWatch watch(clock, steps, *event, [&]() -> std::optional<int64_t> { return ++looks, std::nullopt; });
  for (int i = 0; i < 100; ++i) {
    watch.hurry();
    steps.pause_us(50'000);
  }
  steps.settle();
  EXPECT_GE(looks, 5);
  EXPECT_LE(looks, 6);
  watch.stop();
}

TEST(IdleWatch, NothingOfTheEngineIsUsedAfterTheStop) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    ManualClock clock;
    StepExecutor steps({.seed = seed, .high = 1, .low = 2}, clock);
    Watched executor(steps);
    const auto event = steps.make_event();
    IdleWatch watch(clock, executor, *event, [&]() -> std::optional<int64_t> {
      steps.checkpoint();
      return 5'000'000;
    });
    watch.hurry();
    for (uint64_t i = 0; i < seed % 4; ++i) steps.checkpoint();
    watch.stop();
    executor.gone = true;
    steps.settle();
  }
}

}  // namespace
}  // namespace cellar::testing
