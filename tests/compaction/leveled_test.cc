// Goal: the policy "leveled" puts a major compaction where its rules say. Its plans are hand-worked cases.
// Method: stores of made-up files.
#include <gtest/gtest.h>

#include "base/plugins.h"
#include "cellar/plugin.h"
#include "tests/compaction/policy_cases.h"

namespace cellar::testing {
namespace {

TEST(Leveled, AMajorCompactionFillsTheDeepestLevelThatItNeeds) {
  register_compaction_plugins();
  const auto policy = Registry<CompactionPolicy>::instance().make("leveled(fanout=10, base_bytes=100)");
  ASSERT_TRUE(policy.ok());
  std::vector<StoreFileInfo> files = files_of("0 a-c:60");
  EXPECT_EQ((*policy)->major_output({.files = files, .flush_bytes = 10}).level, 1u);
  files[0].bytes = 101;
  EXPECT_EQ((*policy)->major_output({.files = files, .flush_bytes = 10}).level, 2u);
  EXPECT_EQ((*policy)->major_output({.files = files, .flush_bytes = 10}).file_bytes, 10u);
  files[0].level = 4;
  EXPECT_EQ((*policy)->major_output({.files = files, .flush_bytes = 10}).level, 2u)
      << "a smaller store needs fewer levels";
}

// Level 0 may have 20 bytes, level 1 a tenth of the 300 bytes below it. The deepest level has no debt.
TEST(Leveled, DebtIsWhatTheUpperLevelsHaveTooMuch) {
  register_compaction_plugins();
  const auto debt = [](const std::string& parameters, const std::string& input) {
    const auto policy = Registry<CompactionPolicy>::instance().make("leveled(runs_min=2" + parameters + ")");
    EXPECT_TRUE(policy.ok());
    const std::vector<StoreFileInfo> files = files_of(input);
    return (*policy)->debt_bytes({.files = files, .flush_bytes = 10});
  };
  const std::string deep = "2 a-c:100 d-f:200\n1 a-c:20 d-f:25\n";
  EXPECT_EQ(debt("", "0 a-c:10\n0 a-c:10"), 0u);
  EXPECT_EQ(debt("", "0 a-c:10\n0 a-c:10\n0 a-c:7"), 7u);
  EXPECT_EQ(debt("", "1 a-c:1000"), 0u);
  EXPECT_EQ(debt("", deep), 15u);
  EXPECT_EQ(debt("", deep + "0 a-c:10\n0 a-c:10\n0 a-c:7"), 22u);
  EXPECT_EQ(debt(", targets=fixed", deep), 5u) << "level 1 may have four memtables";
}

}  // namespace
}  // namespace cellar::testing
