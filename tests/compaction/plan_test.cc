// Goal: a policy's plan is refused unless it names files that are next to each other in age, oldest first,
// and not part of another compaction; the plan of a major compaction names all of them, or nothing. Method:
// stores of a few files, and plans that are wrong in one respect each.
#include "compaction/plan.h"

#include <gtest/gtest.h>

namespace cellar::testing {
namespace {

std::vector<StoreFileInfo> five_files() {
  std::vector<StoreFileInfo> files(5);
  for (size_t i = 0; i < files.size(); ++i) files[i].id = 10 + i;
  return files;
}

class CheckPlan : public ::testing::Test {
 protected:
  Status check(std::vector<uint64_t> inputs, bool may_rewrite_one = false) const {
    return check_plan({.inputs = std::move(inputs)}, {.files = files_}, may_rewrite_one);
  }
  std::vector<StoreFileInfo> files_ = five_files();
};

TEST_F(CheckPlan, TakesNeighboursFromTheOldestOn) {
  EXPECT_TRUE(check({10, 11}).ok());
  EXPECT_TRUE(check({12, 13, 14}).ok());
  EXPECT_TRUE(check({10, 11, 12, 13, 14}).ok());
}

TEST_F(CheckPlan, RefusesGapsAndOtherOrders) {
  for (const std::vector<uint64_t>& inputs :
       {std::vector<uint64_t>{10, 12}, {11, 10}, {10, 11, 13}, {14, 10}, {10, 10}, {13, 14, 15}}) {
    const Status status = check(inputs);
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << inputs[0] << ", " << inputs[1];
    EXPECT_NE(status.to_text().find("contiguous"), std::string::npos) << status.to_text();
  }
}

TEST_F(CheckPlan, RefusesFilesThatTheStoreDoesNotHave) {
  EXPECT_TRUE(check({9, 10}).is(Code::kInvalidArgument));
  EXPECT_TRUE(check({20}).is(Code::kInvalidArgument));
}

TEST_F(CheckPlan, RefusesFilesOfAnotherCompaction) {
  files_[1].busy = true;
  EXPECT_TRUE(check({10, 11}).is(Code::kInvalidArgument));
  EXPECT_TRUE(check({11, 12}).is(Code::kInvalidArgument));
  EXPECT_TRUE(check({12, 13}).ok());
}

TEST_F(CheckPlan, TakesOneFileOnlyWhereItIsTheWholeStore) {
  EXPECT_TRUE(check({}, true).is(Code::kInvalidArgument));
  EXPECT_TRUE(check({12}).is(Code::kInvalidArgument));
  EXPECT_TRUE(check({12}, true).ok());
}

TEST(MajorPlan, NamesAllFilesOrNothing) {
  std::vector<StoreFileInfo> files = five_files();
  const auto plan = major_plan({.files = files}, false);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->inputs, (std::vector<uint64_t>{10, 11, 12, 13, 14}));
  files[3].busy = true;
  EXPECT_FALSE(major_plan({.files = files}, true)) << "a file takes part in another compaction";
  EXPECT_FALSE(major_plan({}, true)) << "no files";
}

TEST(MajorPlan, RewritesTheOnlyFileAgainOnlyWhenForced) {
  std::vector<StoreFileInfo> files(1);
  files[0].id = 7;
  EXPECT_TRUE(major_plan({.files = files}, false)) << "it is not the result of a major compaction";
  files[0].major = true;
  EXPECT_FALSE(major_plan({.files = files}, false));
  EXPECT_TRUE(major_plan({.files = files}, true));
}

}  // namespace
}  // namespace cellar::testing
