// Goal: whatever is done to a store, in whatever order, its answers are those of the reference model.
// Method: plans of random operations over two tables with options drawn from a seed, done on an engine with
// tiny limits and on the model; every answer compared. A failure prints a line that repeats it and the
// operations that are needed for it. CELLAR_SEED runs one seed, CELLAR_OPERATIONS makes its plan longer or
// shorter; CELLAR_FIRST_SEED moves all seeds, for others than those of every day.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "tests/metamorphic/random_run.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr int kShards = 4;
constexpr uint64_t kSeedsOfShard = 260;
constexpr size_t kOperations = 500;
constexpr auto kReducingTime = std::chrono::seconds(20);

// Leaves out operations as long as the run still fails, in ever smaller pieces.
std::optional<RunFailure> reduce(Plan& plan, RunFailure failure) {
  const auto end = std::chrono::steady_clock::now() + kReducingTime;
  plan.operations.resize(std::min(plan.operations.size(), failure.operation + 1));
  for (size_t piece = plan.operations.size() / 2; piece > 0; piece /= 2) {
    for (size_t at = plan.operations.size(); at > 0;) {
      if (std::chrono::steady_clock::now() > end) return failure;
      at -= std::min(at, piece);
      Plan shorter = plan;
      const auto first = shorter.operations.begin() + static_cast<ptrdiff_t>(at);
      const size_t count = std::min(piece, shorter.operations.size() - at);
      shorter.operations.erase(first, first + static_cast<ptrdiff_t>(count));
      if (const auto found = RandomRun(shorter).run()) {
        failure = *found;
        plan = std::move(shorter);
      }
    }
  }
  return failure;
}

void report(Plan plan, RunFailure failure) {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const size_t planned = plan.operations.size();
  failure = *reduce(plan, failure);
  std::string text = failure.text + "\nrepeat: CELLAR_SEED=" + std::to_string(plan.seed) +
                     " CELLAR_OPERATIONS=" + std::to_string(planned) +
                     " cellar_tests_metamorphic --gtest_filter=" + test.test_suite_name() + "." +
                     test.name() + "\n" + options_text(plan);
  for (size_t i = 0; i < plan.operations.size(); ++i)
    text += std::to_string(i) + "  " + to_text(plan.operations[i]) + "\n";
  ADD_FAILURE() << text;
}

class RandomOperations : public ::testing::TestWithParam<int> {
 protected:
  void run_all(Work work) {
    const uint64_t one = from_environment("CELLAR_SEED", 0);
    const uint64_t base = from_environment("CELLAR_FIRST_SEED", 1);
    const uint64_t first = one != 0 ? one : base + static_cast<uint64_t>(GetParam()) * 10'000;
    const uint64_t seeds = one != 0 ? 1 : scaled(kSeedsOfShard);
    const size_t operations = from_environment("CELLAR_OPERATIONS", kOperations);
    uint64_t crashes = 0, cuts = 0;
    std::cout << "seeds " << first << " to " << first + seeds - 1 << std::endl;
    for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
      const Plan plan = make_plan(seed, work, operations);
      RandomRun run(plan);
      if (const auto failure = run.run()) report(plan, *failure);
      crashes += run.crashes();
      if (plan.power_cuts) cuts += run.crashes();
    }
    count(seeds * operations, "random operations compared with the model");
    count(crashes - cuts, "ends of the process among them");
    count(cuts, "power cuts among them");
  }
};
INSTANTIATE_TEST_SUITE_P(Shards, RandomOperations, ::testing::Range(0, kShards));

TEST_P(RandomOperations, WithWorkOnRequest) { run_all(Work::kManual); }
TEST_P(RandomOperations, WithAutomaticWork) { run_all(Work::kAutomatic); }

}  // namespace
}  // namespace cellar::testing
