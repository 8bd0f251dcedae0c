// Goal: moves do not make runs of ever more files. Method: runs of many made-up files. The other rules have
// hand-worked cases (tests/data/compaction/moves.txt).
#include <gtest/gtest.h>

#include <string>

#include "base/plugins.h"
#include "compaction/plan.h"
#include "tests/compaction/policy_cases.h"

namespace cellar::testing {
namespace {

// Returns the plan for a run of so many files, and a younger one of so many that lies apart from it.
std::string plan_of(int older, int younger) {
  std::string text;
  for (int i = 0; i < older + younger; ++i) {
    if (i == 0 || i == older) text += i == 0 ? "1" : "\n1";
    const std::string row = std::to_string(1000 + i);
    text += " " + row + "-" + row + ":10";
  }
  const std::vector<StoreFileInfo> files = files_of(text + "\n");
  const auto policy = Registry<CompactionPolicy>::instance().make("exploring");
  if (!policy.ok()) return policy.status().to_text();
  const StoreShape shape{.files = files, .flush_bytes = 10};
  const auto plan = (*policy)->pick(shape, nullptr);
  if (!plan) return "nothing";
  EXPECT_TRUE(check_plan(*plan, shape, false).ok());
  return (plan->move ? "moves " : "merges ") + std::to_string(plan->inputs.size());
}

TEST(Moves, RunsGetThirtyTwoFilesAtMost) {
  register_compaction_plugins();
  EXPECT_EQ(plan_of(1, 1), "moves 1");
  EXPECT_EQ(plan_of(31, 1), "moves 1");
  EXPECT_EQ(plan_of(1, 31), "moves 31");
  EXPECT_EQ(plan_of(32, 1), "nothing");
  EXPECT_EQ(plan_of(16, 17), "nothing");
}

}  // namespace
}  // namespace cellar::testing
