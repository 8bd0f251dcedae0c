// Goal: a policy's plan is refused if a file in it does not exist or is part of another compaction. It is
// also refused if an input would pass files that share rows with it. The plan of a major compaction names
// all files, or nothing. Files are dropped only if no answer changes by it,
// or if no older one shows. Method: stores of a few files, and plans that are wrong in one respect each.
#include "compaction/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/plugins.h"
#include "compaction/sorted_runs.h"

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

TEST_F(CheckPlan, RefusesGapsBetweenFilesOfTheSameRows) {
  for (const std::vector<uint64_t>& inputs : {std::vector<uint64_t>{10, 12}, {10, 11, 13}, {14, 10}}) {
    const Status status = check(inputs);
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << inputs[0] << ", " << inputs[1];
    EXPECT_NE(status.to_text().find("contiguous"), std::string::npos) << status.to_text();
  }
}

TEST_F(CheckPlan, RefusesFilesThatTheStoreDoesNotHave) {
  EXPECT_TRUE(check({9, 10}).is(Code::kInvalidArgument));
  EXPECT_TRUE(check({20}).is(Code::kInvalidArgument));
  EXPECT_TRUE(check({13, 14, 15}).is(Code::kInvalidArgument));
  EXPECT_TRUE(check({10, 10}).is(Code::kInvalidArgument)) << "one file twice";
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

// Level 2 has the files 1 (a to c), 2 (e to g) and 3 (i to k). Level 1 has the file 4 (b to f). Flushes wrote
// the files 5 (a to b) and 6 (h to h).
class CheckRuns : public ::testing::Test {
 protected:
  CheckRuns() {
    add(1, 2, 1, "a", "c");
    add(2, 2, 1, "e", "g");
    add(3, 2, 1, "i", "k");
    add(4, 1, 4, "b", "f");
    add(5, 0, 0, "a", "b");
    add(6, 0, 0, "h", "h");
  }
  void add(uint64_t id, uint32_t level, uint64_t run, const char* first, const char* last) {
    StoreFileInfo& file = files_.emplace_back();
    file.id = id;
    file.level = level;
    file.run = run;
    file.first_row = first;
    file.last_row = last;
  }
  std::string check(std::vector<uint64_t> inputs, CompactionPlan plan, bool move = false) const {
    plan.inputs = std::move(inputs);
    plan.move = move;
    return check_plan(plan, {.files = files_}, false).to_text();
  }
  std::vector<StoreFileInfo> files_;
};

TEST_F(CheckRuns, FilesGoDownWithTheFilesThatShareRows) {
  EXPECT_EQ(check({4, 1, 2}, {.run = 1, .level = 2}), "ok");
  EXPECT_EQ(check({5, 4}, {.run = 4, .level = 1}), "ok");
  EXPECT_EQ(check({5, 6, 4}, {.run = 4, .level = 1}), "ok");
  EXPECT_EQ(check({5, 4, 1, 2}, {.run = 1, .level = 2}), "ok") << "two levels down";
}

TEST_F(CheckRuns, AFileThatPassesNoneOfItsRowsMayGoAnywhere) {
  EXPECT_EQ(check({6}, {.run = 1, .level = 2}, true), "ok");
  EXPECT_EQ(check({6}, {.run = 4, .level = 1}, true), "ok");
  EXPECT_EQ(check({6, 3}, {.run = 1, .level = 2}), "ok");
}

TEST_F(CheckRuns, NothingPassesFilesOfItsRows) {
  EXPECT_THAT(check({5}, {.run = 1, .level = 2}, true), ::testing::HasSubstr("file 5 would pass file 1"));
  EXPECT_THAT(check({5, 1}, {.run = 1, .level = 2}), ::testing::HasSubstr("would pass file 4"));
  EXPECT_THAT(check({4}, {.run = 1, .level = 2}, true), ::testing::HasSubstr("file 4 would pass file 1"));
  EXPECT_THAT(check({4, 1}, {.run = 1, .level = 2}), ::testing::HasSubstr("file 4 would pass file 2"));
  EXPECT_THAT(check({5, 1}, {}), ::testing::HasSubstr("would pass file 4"))
      << "a new run has the oldest's age";
}

TEST_F(CheckRuns, NoFileIsLeftBetweenTheRowsOfTheOutput) {
  EXPECT_THAT(check({1, 3}, {.run = 1, .level = 2}), ::testing::HasSubstr("both sides of file 2"));
}

TEST_F(CheckRuns, ARunTakesFilesOfItsLevelOnly) {
  EXPECT_THAT(check({6}, {.run = 1, .level = 1}, true), ::testing::HasSubstr("which has level 2"));
  EXPECT_THAT(check({6, 5}, {.run = 5, .level = 0}), ::testing::HasSubstr("which has level 0"));
  EXPECT_THAT(check({6}, {.run = 9, .level = 1}, true), ::testing::HasSubstr("does not have"));
  EXPECT_THAT(check({4}, {.level = 0}, true), ::testing::HasSubstr("level 0"));
}

TEST_F(CheckRuns, NothingGoesUp) {
  EXPECT_THAT(check({3}, {.run = 4, .level = 1}, true), ::testing::HasSubstr("younger than an input"));
  EXPECT_THAT(check({6, 3}, {.run = 4, .level = 1}), ::testing::HasSubstr("younger than an input"));
}

TEST_F(CheckRuns, MovesBelongToOneRunAndLeaveIt) {
  EXPECT_THAT(check({6, 4}, {.level = 2}, true), ::testing::HasSubstr("several runs"));
  EXPECT_THAT(check({1}, {.run = 1, .level = 2}, true), ::testing::HasSubstr("the run that has them"));
}

TEST_F(CheckRuns, ARunTakesFilesWhileOthersOfItAreCompacted) {
  files_[2].busy = true;
  EXPECT_EQ(check({4, 1, 2}, {.run = 1, .level = 2}), "ok");
  EXPECT_THAT(check({4, 1, 2, 3}, {.run = 1, .level = 2}), ::testing::HasSubstr("being compacted"));
  EXPECT_EQ(check({5, 4}, {.run = 4, .level = 1}), "ok");
}

TEST_F(CheckRuns, StartsOfFilesAscend) {
  EXPECT_THAT(check({5, 4}, {.run = 4, .level = 1, .file_starts = {"c", "b"}}),
              ::testing::HasSubstr("ascend"));
}

TEST_F(CheckRuns, RunsAreFoundFromTheirFiles) {
  const std::vector<SortedRun> runs = sorted_runs(files_);
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].id, 1u);
  EXPECT_EQ(runs[0].files.size(), 3u);
  EXPECT_EQ(runs[0].level, 2u);
  EXPECT_EQ(runs[3].id, 6u);
}

// Files that leave without being read. Flushes wrote them: file 1 has the rows a to c and the times 1 to 5.
// File 2 has the rows b to d and the times 6 to 9. File 3 has the rows x to z and the times 3 to 9.
class CheckDrop : public ::testing::Test {
 protected:
  enum class Drop : uint8_t { kExpired, kLive };

  CheckDrop() {
    add(1, "a", "c", 1, 5);
    add(2, "b", "d", 6, 9);
    add(3, "x", "z", 3, 9);
    shape_.files = files_;
    shape_.erase_before_ms = 9;
  }
  void add(uint64_t id, const char* first, const char* last, int64_t time_min, int64_t time_max) {
    StoreFileInfo& file = files_.emplace_back();
    file.id = id;
    file.first_row = first;
    file.last_row = last;
    file.time_min = file.earliest_put = time_min;
    file.time_max = time_max;
  }
  std::string check(std::vector<uint64_t> inputs, Drop drop, CompactionPlan plan = {}) const {
    plan.inputs = std::move(inputs);
    plan.drop = true;
    plan.drop_live = drop == Drop::kLive;
    return check_plan(plan, shape_, false).to_text();
  }
  std::vector<StoreFileInfo> files_;
  StoreShape shape_;
};

TEST_F(CheckDrop, FilesOfWhichAllHasExpiredMayLeave) {
  EXPECT_EQ(check({1}, Drop::kExpired), "ok");
  EXPECT_THAT(check({2}, Drop::kExpired), ::testing::HasSubstr("newest cell has the timestamp 9"));
  EXPECT_THAT(check({1, 3}, Drop::kExpired), ::testing::HasSubstr("drops file 3"));
  shape_.erase_before_ms = 10;
  EXPECT_EQ(check({3, 1}, Drop::kExpired), "ok");
  EXPECT_EQ(check({2}, Drop::kExpired), "ok") << "the older file of its rows may stay";
  shape_.erase_before_ms = INT64_MIN;
  EXPECT_THAT(check({1}, Drop::kExpired), ::testing::HasSubstr("drops file 1"));
}

TEST_F(CheckDrop, LiveFilesLeaveOldestFirst) {
  EXPECT_EQ(check({1}, Drop::kLive), "ok");
  EXPECT_EQ(check({3}, Drop::kLive), "ok") << "nothing else has its rows";
  EXPECT_EQ(check({1, 2}, Drop::kLive), "ok");
  EXPECT_THAT(check({2}, Drop::kLive), ::testing::HasSubstr("the older file 1 has the same rows"));
}

TEST_F(CheckDrop, NoOlderVersionShowsAgain) {
  files_[1].earliest_put = 5;
  EXPECT_EQ(check({1}, Drop::kLive), "ok");
  files_[0].deletes = 1;
  EXPECT_THAT(check({1}, Drop::kLive), ::testing::HasSubstr("file 2 has older puts"));
  files_[0].deletes = 0;
  files_[1].earliest_put = 4;
  EXPECT_THAT(check({1}, Drop::kLive), ::testing::HasSubstr("file 2 has older puts"));
  EXPECT_EQ(check({1, 2}, Drop::kLive), "ok");
  shape_.earliest_in_memory = 8;
  EXPECT_THAT(check({1, 2}, Drop::kLive), ::testing::HasSubstr("older puts are in memory"));
}

TEST_F(CheckDrop, TheRulesOfOtherPlansHold) {
  EXPECT_THAT(check({}, Drop::kExpired), ::testing::HasSubstr("0 files"));
  EXPECT_THAT(check_plan({.inputs = {1, 2}, .drop_live = true}, shape_, false).to_text(),
              ::testing::HasSubstr("drops no files"));
  EXPECT_THAT(check({1, 1}, Drop::kLive), ::testing::HasSubstr("twice"));
  EXPECT_THAT(check({4}, Drop::kLive), ::testing::HasSubstr("does not have"));
  for (const CompactionPlan& plan :
       std::vector<CompactionPlan>{{.level = 1}, {.file_bytes = 5}, {.file_starts = {"b"}}, {.move = true}})
    EXPECT_THAT(check({1}, Drop::kExpired, plan), ::testing::HasSubstr("says where they go"));
  files_[0].busy = true;
  EXPECT_THAT(check({1}, Drop::kExpired), ::testing::HasSubstr("being compacted"));
}

TEST_F(CheckDrop, TheEngineDropsAllThatHasExpired) {
  shape_.erase_before_ms = INT64_MIN;
  EXPECT_FALSE(expired_plan(shape_));
  shape_.erase_before_ms = 10;
  files_[1].busy = true;
  const auto plan = expired_plan(shape_);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->inputs, (std::vector<uint64_t>{1, 3}));
  EXPECT_TRUE(check_plan(*plan, shape_, false).ok());
}

class MajorPlan : public ::testing::Test {
 protected:
  static std::optional<CompactionPlan> plan_of(std::span<const StoreFileInfo> files, bool forced) {
    register_compaction_plugins();
    const auto policy = Registry<CompactionPolicy>::instance().make("exploring");
    EXPECT_TRUE(policy.ok());
    return major_plan(**policy, {.files = files}, forced);
  }
};

TEST_F(MajorPlan, NamesAllFilesOrNothing) {
  std::vector<StoreFileInfo> files = five_files();
  const auto plan = plan_of(files, false);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->inputs, (std::vector<uint64_t>{10, 11, 12, 13, 14}));
  files[3].busy = true;
  EXPECT_FALSE(plan_of(files, true)) << "a file takes part in another compaction";
  EXPECT_FALSE(plan_of({}, true)) << "no files";
}

TEST_F(MajorPlan, RewritesTheOnlyFileAgainOnlyWhenForced) {
  std::vector<StoreFileInfo> files(1);
  files[0].id = 7;
  EXPECT_TRUE(plan_of(files, false)) << "it is not the result of a major compaction";
  files[0].major = true;
  EXPECT_FALSE(plan_of(files, false));
  EXPECT_TRUE(plan_of(files, true));
}

}  // namespace
}  // namespace cellar::testing
