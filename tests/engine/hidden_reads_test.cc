// Goal: the counts of scans that met deleted cells: by rows, and with calls that are never lost.
// Method: sums worked out by hand.
#include "engine/store/hidden_reads.h"

#include <gtest/gtest.h>

#include <string>

namespace cellar::testing {
namespace {

constexpr uint64_t kMin = HiddenReads::kCellsMin;

TEST(HiddenReads, TwoHotPlacesAreCountedApart) {
  HiddenReads reads([] {});
  reads.add(kMin, "a", "c");
  reads.add(2 * kMin, "x", "z");
  reads.add(kMin, "b", "d");
  auto tallies = reads.tallies();
  ASSERT_EQ(tallies.size(), 2u);
  EXPECT_EQ(tallies[0].cells, 2 * kMin);
  EXPECT_EQ(tallies[1].cells, 2 * kMin);
  reads.add(1, "y", "y");
  tallies = reads.tallies();
  EXPECT_EQ(tallies[0].first_row, "x") << "most cells come first";
  EXPECT_EQ(tallies[1].first_row, "a");
  EXPECT_EQ(tallies[1].last_row, "d");
  reads.forget(tallies[0]);
  ASSERT_EQ(reads.tallies().size(), 1u);
  reads.add(1, "a", "z");
  EXPECT_EQ(reads.tallies()[0].cells, 2 * kMin + 1);
}

TEST(HiddenReads, PagesOfAScanAddUpAndLeaveHotPlacesApart) {
  HiddenReads reads([] {});
  reads.add(1'000'000, "m", "m");
  uint64_t sum = 0;
  for (int i = 100; i < 900; ++i) {
    reads.add(10, "p" + std::to_string(i), "p" + std::to_string(i));
    sum += 10;
  }
  const auto tallies = reads.tallies();
  EXPECT_EQ(tallies.size(), HiddenReads::kTalliesMax);
  EXPECT_EQ(tallies[0].first_row, "m");
  EXPECT_EQ(tallies[0].last_row, "m");
  for (size_t i = 1; i < tallies.size(); ++i) sum -= tallies[i].cells;
  EXPECT_EQ(sum, 0u);
}

TEST(HiddenReads, ALookThatBeginsNothingIsFollowedByAnother) {
  int calls = 0;
  HiddenReads reads([&] { ++calls; });
  reads.add(kMin - 1, "a", "b");
  EXPECT_EQ(calls, 0);
  reads.add(1, "a", "b");
  EXPECT_EQ(calls, 1);
  reads.add(kMin, "a", "b");
  EXPECT_EQ(calls, 1) << "a look is on its way";
  reads.looked();
  reads.add(2 * kMin - 1, "a", "b");
  EXPECT_EQ(calls, 1);
  reads.add(1, "a", "b");
  EXPECT_EQ(calls, 2);
}

TEST(HiddenReads, MarkersInMemoryAreWorthAFlushOnceForTheSameScans) {
  HiddenReads reads([] {});
  reads.add(3 * kMin, "a", "b");
  EXPECT_FALSE(reads.pays_flush_of(3 * kMin + 1));
  EXPECT_TRUE(reads.pays_flush_of(3 * kMin));
  EXPECT_FALSE(reads.pays_flush_of(1));
  reads.add(kMin, "a", "b");
  EXPECT_TRUE(reads.pays_flush_of(1));
}

TEST(HiddenReads, CompactionsThatLeaveTheMarkersMakeTheNextOnesDearer) {
  HiddenReads reads([] {});
  EXPECT_EQ(reads.price(), 1u);
  reads.note_compaction(false);
  EXPECT_EQ(reads.price(), 4u);
  for (int i = 0; i < 100; ++i) reads.note_compaction(false);
  EXPECT_EQ(reads.price(), 256u);
  reads.note_compaction(true);
  EXPECT_EQ(reads.price(), 1u);
}

}  // namespace
}  // namespace cellar::testing
