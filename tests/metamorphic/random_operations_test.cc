// Goal: whatever is done to a store, in whatever order, its answers are those of the reference model.
// Method: plans of random operations over two tables with options drawn from a seed, done on an engine with
// tiny limits and on the model; every answer compared. A failure prints a line that repeats it and the
// operations that are needed for it. CELLAR_SEED runs one seed, CELLAR_OPERATIONS makes its plan longer or
// shorter.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "tests/metamorphic/random_run.h"

namespace cellar::testing {
namespace {

constexpr int kShards = 4;
constexpr uint64_t kSeedsOfShard = 200;
constexpr size_t kOperations = 500;
constexpr auto kReducingTime = std::chrono::seconds(20);

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

double test_scale() {
  const char* scale = std::getenv("CELLAR_TEST_SCALE");
  return scale == nullptr ? 1 : std::strtod(scale, nullptr);
}

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
    const uint64_t first = one != 0 ? one : 1 + static_cast<uint64_t>(GetParam()) * 10'000;
    const auto scaled = static_cast<uint64_t>(static_cast<double>(kSeedsOfShard) * test_scale());
    const uint64_t seeds = one != 0 ? 1 : std::max<uint64_t>(1, scaled);
    const size_t operations = from_environment("CELLAR_OPERATIONS", kOperations);
    std::cout << "seeds " << first << " to " << first + seeds - 1 << std::endl;
    for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
      const Plan plan = make_plan(seed, work, operations);
      if (const auto failure = RandomRun(plan).run()) report(plan, *failure);
    }
    std::cout << seeds * operations << " operations" << std::endl;
  }
};
INSTANTIATE_TEST_SUITE_P(Shards, RandomOperations, ::testing::Range(0, kShards));

TEST_P(RandomOperations, WithWorkOnRequest) { run_all(Work::kManual); }
TEST_P(RandomOperations, WithAutomaticWork) { run_all(Work::kAutomatic); }

}  // namespace
}  // namespace cellar::testing
