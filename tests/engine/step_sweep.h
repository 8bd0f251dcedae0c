// The sweep of tests whose workload is a list of steps, each of which must happen whole or not at all.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cellar/cellar.h"
#include "tests/support/crash_sweep.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {

using EngineStep = std::function<Status(Engine&)>;

// A store on which steps are done one after the other, as look(engine) sees it. Threads run in turns.
template <class World>
class StepSweep {
 public:
  using Look = std::function<World(Engine&)>;
  using Change = std::function<void(EngineOptions&)>;
  StepSweep(const std::vector<EngineStep>& steps, Look look, Change change = {})
      : steps_(steps), look_(std::move(look)), change_(std::move(change)) {}

  // Returns the world after all steps, none of which may fail. Called first.
  World last_world() {
    CrashFileSystem looked_at;
    EXPECT_EQ(work(looked_at, &worlds_).done, steps_.size());
    return worlds_.back();
  }

  // Crashes at some `places` of all operations, in every mode. The world must be as before or as after the
  // step under way, and both must occur. Returns the number of crashes.
  uint64_t run(uint64_t places) {
    CrashFileSystem files;
    EXPECT_EQ(work(files, nullptr).done, steps_.size());
    uint64_t before = 0, later = 0;
    const auto check = [&](FileSystem& image, const Outcome& outcome) {
      SCOPED_TRACE("step " + std::to_string(outcome.begun));
      ManualClock clock(1'800'000'000'000);
      StepExecutor executor(1, clock);
      auto opened = Engine::open("store", options_for(image, clock, executor));
      ASSERT_TRUE(opened.ok()) << opened.status().to_text();
      const World found = look_(**opened);
      const bool is_before = found == worlds_[outcome.done];
      ++(is_before ? before : later);
      if (!is_before) {
        ASSERT_EQ(found, worlds_[outcome.begun]);
      }
    };
    const uint64_t crashes = sweep_crashes(
        files.operations(), places, [&](FileSystem& each) { return work(each, nullptr); }, check);
    EXPECT_GT(before, 0u);
    EXPECT_GT(later, 0u);
    return crashes;
  }

 private:
  // How many steps were begun, and how many answered with ok.
  struct Outcome {
    size_t begun = 0;
    size_t done = 0;
  };

  EngineOptions options_for(FileSystem& files, ManualClock& clock, StepExecutor& executor) const {
    EngineOptions options;
    options.log_segment_bytes = 64 << 10;  // a recovery looks at all of a segment
    options.create_if_missing = true;
    options.durability = Durability::kFsyncWal;
    options.environment = {.files = &files, .clock = &clock, .executor = &executor, .seed = 7};
    if (change_) change_(options);
    return options;
  }

  // `after` gets the world before all steps and after each.
  Outcome work(FileSystem& files, std::vector<World>* after) const {
    Outcome outcome;
    ManualClock clock;
    StepExecutor executor(1, clock);
    auto opened = Engine::open("store", options_for(files, clock, executor));
    if (!opened.ok()) return outcome;
    if (after != nullptr) after->push_back(look_(**opened));
    for (const EngineStep& step : steps_) {
      clock.advance_ms(5);
      ++outcome.begun;
      if (!step(**opened).ok()) return outcome;
      executor.settle();
      ++outcome.done;
      if (after != nullptr) after->push_back(look_(**opened));
    }
    return outcome;
  }

  const std::vector<EngineStep>& steps_;
  const Look look_;
  const Change change_;
  std::vector<World> worlds_;
};

}  // namespace cellar::testing
