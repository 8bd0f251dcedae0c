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
#include "tests/compaction/policy_cases.h"

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
    file.bytes = 20 * cells;
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

TEST_F(ScanPlanTest, YoungerFilesWithoutMarkersStay) {
  add("a", "f", 100, 0);
  add("c", "d", 100, 100);
  add("a", "z", 5000, 0);
  const ScanPlan made = plan(200, "c", "d");
  ASSERT_TRUE(made.plan);
  EXPECT_THAT(made.plan->inputs, ElementsAre(10, 11));
}

TEST_F(ScanPlanTest, LargeCellsCostMore) {
  add("a", "m", 1000, 500);
  files_[0].bytes = uint64_t{1000} << 20;
  EXPECT_EQ(plan(1000, "a", "m").worth_at, (uint64_t{1000} << 20) / 64);
  EXPECT_FALSE(plan(1'000'000, "a", "m").plan);
}

TEST_F(ScanPlanTest, APriceIsAFactor) {
  add("a", "m", 100, 50);
  files_[0].major = true;  // its markers may leave now, whatever kept them
  const auto policy = Registry<CompactionPolicy>::instance().make("none").value();
  ScanWaste waste{.cells = 199, .first_row = "a", .last_row = "b", .price = 4};
  EXPECT_EQ(plan_for_scans(*policy, {.files = files_}, waste).worth_at, 200u);
  EXPECT_FALSE(plan_for_scans(*policy, {.files = files_}, waste).plan);
  waste.cells = 200;
  EXPECT_TRUE(plan_for_scans(*policy, {.files = files_}, waste).plan);
}

TEST_F(ScanPlanTest, RunsThatMayNotBeMergedAreLeftAlone) {
  add("a", "m", 100, 50);
  add("a", "m", 100, 50);
  for (const char* name : {"fifo(bytes_max=10000)", "date_tiered"}) {
    const auto policy = Registry<CompactionPolicy>::instance().make(name).value();
    const ScanPlan made =
        plan_for_scans(*policy, {.files = files_}, {.cells = 1'000'000, .first_row = "a", .last_row = "m"});
    EXPECT_FALSE(made.plan) << name;
    EXPECT_EQ(made.worth_at, UINT64_MAX);
  }
}

// Levels stay levels: the output joins the run of its level, and no older flush is left above it.
TEST_F(ScanPlanTest, TheOutputGoesWhereThePolicyWouldPutIt) {
  const auto leveled = Registry<CompactionPolicy>::instance().make("leveled(base_bytes=10000)").value();
  const auto made_of = [&](const CompactionPolicy& policy, const std::string& store, const char* row) {
    files_ = files_of(store);
    const StoreShape shape{.files = files_, .flush_bytes = 1000};
    ScanPlan made = plan_for_scans(policy, shape, {.cells = 1'000'000, .first_row = row, .last_row = row});
    EXPECT_TRUE(made.plan) << store;
    EXPECT_TRUE(made.plan && check_plan(*made.plan, shape, true).ok()) << store;
    return made.plan.value_or(CompactionPlan());
  };
  CompactionPlan merge = made_of(*leveled, "1 a-f:100 m-z:100\n0 g-h:10d5", "g");
  EXPECT_THAT(merge.inputs, ElementsAre(3));
  EXPECT_EQ(merge.run, 1u);
  EXPECT_EQ(merge.level, 1u);
  files_ = files_of("1 a-f:100 g-h:10 m-z:100");
  EXPECT_FALSE(leveled->pick({.files = files_, .flush_bytes = 1000}, nullptr)) << "after the compaction";

  merge = made_of(*leveled, "0 a-b:10\n0 g-h:10d5\n0 a-z:10", "g");
  EXPECT_THAT(merge.inputs, ElementsAre(1, 2)) << "no flush is older than level 1";
  EXPECT_EQ(merge.run, 0u);
  EXPECT_EQ(merge.level, 1u);

  merge = made_of(*leveled, "2 a-c:100 d-f:100 g-i:100\n1 b-b:10d5 c-d:10 f-g:10", "b");
  EXPECT_THAT(merge.inputs, ElementsAre(1, 4)) << "not file by file through all rows";
  EXPECT_EQ(merge.run, 1u);
  EXPECT_EQ(merge.level, 2u);

  const auto stripe = Registry<CompactionPolicy>::instance().make("stripe(split_bytes=200)").value();
  merge = made_of(*stripe, "1 a-f:100 m-z:100\n0 a-z:10d5\n0 a-z:10", "g");
  EXPECT_THAT(merge.inputs, ElementsAre(1, 2, 3));
  EXPECT_EQ(merge.run, 1u);
  EXPECT_THAT(merge.file_starts, ElementsAre("m")) << "no file crosses a border of stripes";
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
