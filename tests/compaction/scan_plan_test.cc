// Goal: a compaction for scans takes all files that share rows, so that markers may leave, and no other file.
// It waits until the scans have examined as many cells in vain as it rewrites.
// Method: stores of a few files, worked out by hand.
#include "compaction/scan_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/plugins.h"
#include "cellar/plugin.h"
#include "compaction/plan.h"

namespace cellar::testing {
namespace {

using ::testing::ElementsAre;

class ScanPlanTest : public ::testing::Test {
 protected:
  ScanPlanTest() { register_compaction_plugins(); }
  void add(const std::string& first, const std::string& last, uint64_t cells, uint64_t deletes) {
    StoreFileInfo file;
    file.id = 10 + files_.size();
    file.first_row = first;
    file.last_row = last;
    file.cells = cells;
    file.bytes = 100 * cells;
    file.deletes = deletes;
    files_.push_back(file);
  }
  ScanPlan plan(uint64_t cells, const char* first, const char* last, bool all_files = false) const {
    const auto policy = Registry<CompactionPolicy>::instance().make("none").value();
    return plan_for_scans(*policy, {.files = files_},
                          {.cells = cells, .first_row = first, .last_row = last, .all_files = all_files});
  }
  std::vector<StoreFileInfo> files_;
};

TEST_F(ScanPlanTest, WaitsUntilTheScansHavePaidForIt) {
  add("a", "m", 1000, 0);
  add("c", "d", 500, 500);
  EXPECT_FALSE(plan(999, "c", "d").plan);
  EXPECT_EQ(plan(999, "c", "d").worth_at, 1000u) << "it reads 1500 cells, and writes about 500";
  const ScanPlan made = plan(1000, "c", "d");
  ASSERT_TRUE(made.plan);
  EXPECT_THAT(made.plan->inputs, ElementsAre(10, 11));
  EXPECT_EQ(made.plan->why, "scans examined 1000 deleted cells in vain");
}

TEST_F(ScanPlanTest, TakesAllFilesThatShareRowsAndNoOthers) {
  add("a", "f", 100, 0);
  add("p", "t", 100, 0);
  add("e", "h", 100, 50);  // shares rows with the first file, which has none of the markers' rows
  add("x", "z", 100, 100);
  const ScanPlan made = plan(200, "g", "h");
  ASSERT_TRUE(made.plan);
  EXPECT_THAT(made.plan->inputs, ElementsAre(10, 12));
  EXPECT_EQ(made.plan->level, 1u) << "nothing older shares rows, so markers may go";
  EXPECT_TRUE(check_plan(*made.plan, {.files = files_}, false).ok());
  const ScanPlan all = plan(250, "g", "h", true);
  ASSERT_TRUE(all.plan);
  EXPECT_THAT(all.plan->inputs, ElementsAre(10, 11, 12, 13)) << "deletes ordered by sequence";
  EXPECT_FALSE(plan(249, "g", "h", true).plan);
}

TEST_F(ScanPlanTest, MarkersThatHadToStayDoNotCount) {
  add("a", "m", 100, 50);
  files_[0].major = true;
  EXPECT_FALSE(plan(1'000'000, "a", "m").plan);
  EXPECT_EQ(plan(1'000'000, "a", "m").worth_at, UINT64_MAX);
  add("b", "c", 10, 1);
  EXPECT_TRUE(plan(1'000'000, "b", "c").plan);
}

TEST_F(ScanPlanTest, WaitsForACompactionThatHasAFile) {
  add("a", "m", 100, 0);
  add("a", "m", 100, 100);
  files_[0].busy = true;
  EXPECT_FALSE(plan(1000, "a", "m").plan);
  EXPECT_EQ(plan(1000, "a", "m").worth_at, 100u);
}

TEST_F(ScanPlanTest, RowsWithoutFilesHaveNoPlan) {
  add("a", "m", 100, 50);
  EXPECT_FALSE(plan(1000, "n", "z").plan);
  files_.clear();
  EXPECT_FALSE(plan(1000, "a", "b").plan);
}

}  // namespace
}  // namespace cellar::testing
