// Goal: the compaction policy that docs/adding_a_plugin.md shows works as it says. Method: the page shows
// policy_cheapest.cc of this folder, word for word. A test of the documents compares them. Here shapes are
// made by hand.
#include <gtest/gtest.h>

#include "cellar/compaction_policy.h"
#include "compaction/plan.h"

namespace cellar {

void cellar_plugin_compaction_policy_cheapest();

namespace testing {
namespace {

std::unique_ptr<CompactionPolicy> cheapest(const std::string& parameters) {
  cellar_plugin_compaction_policy_cheapest();
  return Registry<CompactionPolicy>::instance().make("cheapest" + parameters).value();
}

std::vector<StoreFileInfo> files_with(const std::vector<uint64_t>& bytes) {
  std::vector<StoreFileInfo> files;
  for (const uint64_t each : bytes) {
    StoreFileInfo& file = files.emplace_back();
    file.id = files.size();
    file.bytes = each;
  }
  return files;
}

TEST(ExamplePolicy, MergesTheCheapestNeighbours) {
  const auto policy = cheapest("(runs_max=3, width=2)");
  std::vector<StoreFileInfo> files = files_with({900, 50, 40, 30, 500});
  const StoreShape shape{.files = files};
  std::vector<std::string> trace;
  const std::optional<CompactionPlan> plan = policy->pick(shape, &trace);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->inputs, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(plan->why, "the cheapest 2 of 5");
  EXPECT_EQ(trace.size(), 4u);
  EXPECT_TRUE(check_plan(*plan, shape, false).ok());
}

TEST(ExamplePolicy, LeavesFewAndBusyFilesAlone) {
  const auto policy = cheapest("(runs_max=3, width=2)");
  std::vector<StoreFileInfo> files = files_with({1, 1, 1});
  std::vector<std::string> trace;
  EXPECT_FALSE(policy->pick({.files = files}, &trace).has_value());
  EXPECT_EQ(trace, std::vector<std::string>{"runs are few: 3"});
  files = files_with({9, 1, 1, 9});
  files[1].busy = true;
  EXPECT_EQ(policy->pick({.files = files}, nullptr)->inputs, (std::vector<uint64_t>{3, 4}));
  for (StoreFileInfo& file : files) file.busy = true;
  EXPECT_FALSE(policy->pick({.files = files}, nullptr).has_value());
}

// A run is never cut in two, and at `files_stop` runs something is merged.
TEST(ExamplePolicy, TakesWholeRuns) {
  std::vector<StoreFileInfo> files = files_with({1, 1, 9, 2});
  files[0].run = files[1].run = 7;
  files[0].level = files[1].level = 1;
  files[0].first_row = files[0].last_row = "a";
  files[1].first_row = files[1].last_row = "b";
  const StoreShape shape{.files = files, .files_stop = 3};
  const auto plan = cheapest("(runs_max=100, width=2)")->pick(shape, nullptr);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->inputs, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_TRUE(check_plan(*plan, shape, false).ok());
}

TEST(ExamplePolicy, RefusesUnknownParameters) {
  cellar_plugin_compaction_policy_cheapest();
  const auto made = Registry<CompactionPolicy>::instance().make("cheapest(widht=2)");
  EXPECT_EQ(made.status().hint(), "did you mean width?");
  EXPECT_FALSE(Registry<CompactionPolicy>::instance().make("cheapest(width=1)").ok());
}

}  // namespace
}  // namespace testing
}  // namespace cellar
