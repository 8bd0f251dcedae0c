// Goal: the tiers of a store are found. The policies that use them have hand-worked cases. Method: stores of
// made-up files.
#include <gtest/gtest.h>

#include "compaction/tiers.h"
#include "tests/compaction/policy_cases.h"

namespace cellar::testing {
namespace {

// Runs of the levels 0, 3, 1, 1, 0: the oldest counts as one of level 3.
TEST(Tiers, ARunThatIsOlderThanADeeperOneCountsAsThatLevel) {
  const std::vector<StoreFileInfo> files = files_of("0 a-z:1\n3 a-z:2\n1 a-z:4\n1 a-z:8\n0 a-z:16\n");
  const Tiers tiers({.files = files, .files_stop = 6}, [](const SortedRun& run) { return run.level; });
  ASSERT_EQ(tiers.youngest_first().size(), 3u);
  EXPECT_EQ(tiers.youngest_first()[0].level, 0u);
  EXPECT_EQ(bytes_of(tiers.youngest_first()[0].runs), 16u);
  EXPECT_EQ(tiers.youngest_first()[1].level, 1u);
  EXPECT_EQ(bytes_of(tiers.youngest_first()[1].runs), 12u);
  EXPECT_EQ(tiers.youngest_first()[2].level, 3u);
  EXPECT_EQ(bytes_of(tiers.youngest_first()[2].runs), 3u);
  EXPECT_FALSE(tiers.stuck());
}

TEST(Tiers, BusyRunsEndAPart) {
  const std::vector<StoreFileInfo> files =
      files_of("0 a-z:1\n0 a-z:2b\n0 a-z:4\n0 a-z:8\n0 a-z:16b\n0 a-z:32\n");
  const std::vector<SortedRun> runs = sorted_runs(files);
  EXPECT_EQ(bytes_of(idle_part(runs)), 12u);
  EXPECT_EQ(bytes_of(youngest_pair(runs)), 12u);
  EXPECT_EQ(bytes_beyond(runs, 4), 48u);
  EXPECT_EQ(bytes_beyond(runs, 6), 0u);
}

}  // namespace
}  // namespace cellar::testing
