// Goal: whatever is done to a store, in whatever order, its answers are those of the reference model. Method:
// plans of random operations over two tables with options drawn from a seed. They are done on an engine with
// tiny limits and on the model, and every answer is compared. A failure prints a line that repeats it, and
// the operations that are needed for it. CELLAR_SEED runs one seed. CELLAR_OPERATIONS makes its plan longer
// or shorter. CELLAR_FIRST_SEED moves all seeds, for others than those of every day. Some plans are done once
// under each of the named option sets. If those do not change which cells are stored, each answer is the same
// under all of them. CELLAR_OPTION_SET names one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>

#include "engine/schema/option_fields.h"
#include "tests/metamorphic/option_sets.h"
#include "tests/metamorphic/random_run.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr int kShards = 4;
constexpr uint64_t kSeedsOfShard = 220;
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

void report(Plan plan, RunFailure failure, const std::string& option_set = {}) {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const size_t planned = plan.operations.size();
  failure = *reduce(plan, failure);
  std::string text = failure.text + "\nrepeat: CELLAR_SEED=" + std::to_string(plan.seed) +
                     " CELLAR_OPERATIONS=" + std::to_string(planned) +
                     (option_set.empty() ? "" : " CELLAR_OPTION_SET='" + option_set + "'") +
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

TEST(RandomPlans, DrawEveryKindOfOperation) {
  std::set<Operation::Kind> seen;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (const Operation& each : make_plan(seed, Work::kManual, kOperations).operations)
      seen.insert(each.kind);
  EXPECT_EQ(seen.size(), Operation::kKinds);
  std::set<std::string> names;
  for (const OptionSet& each : option_sets()) EXPECT_TRUE(names.insert(each.name).second) << each.name;
  count(seen.size(), "kinds of random operations");
  count(names.size(), "option sets");
}

// All that a plan's store is, after what every plan of option sets is made to have.
std::string store_text(const Plan& plan) {
  std::string text = fmt::format("{} {}\n", static_cast<int>(plan.work), cellar::to_text(plan.engine, true));
  for (const TableOptions& table : plan.tables) {
    text += cellar::to_text(table, true) + "\n";
    for (const FamilyOptions& family : table.families) text += cellar::to_text(family, true) + "\n";
  }
  return text;
}

TEST(OptionSets, DifferInWhatTheyComeTo) {
  Plan base = make_plan(1, Work::kManual, 10);
  fix_answers(base);
  std::map<std::string, std::string> names;  // by store
  for (const OptionSet& each : option_sets()) {
    Plan plan = base;
    each.apply(plan);
    EXPECT_TRUE(validate(plan.engine).ok()) << each.name;
    for (const TableOptions& table : plan.tables) EXPECT_TRUE(validate(table).ok()) << each.name;
    const auto [at, is_new] = names.emplace(store_text(plan), each.name);
    EXPECT_TRUE(is_new) << each.name << " is " << at->second << ":\n" << at->first;
  }
  EXPECT_GE(names.size(), 64u) << "of a build with all codecs";
}

constexpr uint64_t kSeedsOfSetShard = 2;
constexpr size_t kOperationsOfSet = 250;

class UnderOptionSets : public RandomOperations {
 protected:
  // The same plan with these options; its history, or a failure.
  static std::optional<std::vector<std::string>> history_under(const OptionSet& set, const Plan& drawn) {
    Plan plan = drawn;
    set.apply(plan);
    RandomRun run(plan);
    const auto failure = run.run();
    if (!failure) return run.history();
    report(plan, *failure, set.name);
    return std::nullopt;
  }

  static void compare(const OptionSet& set, uint64_t seed, const std::vector<std::string>& found,
                      const std::vector<std::string>& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (found[i] == expected[i]) continue;
      ADD_FAILURE() << "operation " << i << " under \"" << set.name << "\":\n"
                    << found[i] << "\nunder \"" << option_sets().front().name << "\":\n"
                    << expected[i] << "\nrepeat: CELLAR_SEED=" << seed
                    << " CELLAR_OPERATIONS=" << expected.size() << " CELLAR_OPTION_SET='" << set.name
                    << "' cellar_tests_metamorphic --gtest_filter='*UnderOptionSets.GiveTheSameAnswers/0'";
      return;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Shards, UnderOptionSets, ::testing::Range(0, kShards));

TEST_P(UnderOptionSets, GiveTheSameAnswers) {
  const uint64_t one = from_environment("CELLAR_SEED", 0);
  const char* const one_set = std::getenv("CELLAR_OPTION_SET");
  const uint64_t base = from_environment("CELLAR_FIRST_SEED", 1);
  const uint64_t first = one != 0 ? one : base + 50'000 + static_cast<uint64_t>(GetParam()) * 10'000;
  const uint64_t seeds = one != 0 ? 1 : scaled(kSeedsOfSetShard);
  const bool shortest = test_scale() < 0.1;
  const size_t operations =
      from_environment("CELLAR_OPERATIONS", shortest ? kOperationsOfSet / 3 : kOperationsOfSet);
  std::cout << "seeds " << first << " to " << first + seeds - 1 << std::endl;
  uint64_t runs = 0;
  for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    Plan plan = make_plan(seed, Work::kManual, operations);
    fix_answers(plan);
    const auto expected = history_under(option_sets().front(), plan);
    for (size_t i = 0; i < option_sets().size(); ++i) {
      const OptionSet& set = option_sets()[i];
      // The shortest form tries each set in one of the shards.
      if (one == 0 && shortest && i % kShards != static_cast<size_t>(GetParam())) continue;
      if (HasFailure() || (one_set != nullptr && set.name != one_set)) continue;
      const auto found = history_under(set, plan);
      if (found && expected && set.same_answers) compare(set, seed, *found, *expected);
      ++runs;
    }
  }
  count(runs * operations, "random operations compared with the model");
  count(runs, "runs of a plan under an option set");
}

}  // namespace
}  // namespace cellar::testing
