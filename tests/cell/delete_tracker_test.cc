// Goal: the trackers hide what their markers say, for the row and column they were met in, and forget in
// time. Method: markers and puts in the order of a store, by hand; whole histories are compared in
// differential_test.cc.
#include "cell/delete_tracker.h"

#include <gtest/gtest.h>

#include "cell/rules.h"
#include "cell/sequence_tracker.h"
#include "tests/cell_support/cell_text.h"

namespace cellar::testing {
namespace {

template <class Tracker>
void add(Tracker& tracker, std::string_view marker) {
  tracker.add(owned(parse_cell(marker)).view());
}

TEST(DeleteTracker, HidesByEachKind) {
  DeleteTracker deletes;
  deletes.enter_row();
  EXPECT_EQ(deletes.test(5), Hidden::kNo);
  add(deletes, "r/f:/9/delete_family_version");
  add(deletes, "r/f:/7/delete_family_version");
  add(deletes, "r/f:/3/delete_family");
  deletes.enter_column();
  add(deletes, "r/f:q/8/delete");
  EXPECT_EQ(deletes.test(9), Hidden::kByFamilyVersion);
  EXPECT_EQ(deletes.test(8), Hidden::kByVersion);
  EXPECT_EQ(deletes.test(7), Hidden::kByFamilyVersion);
  EXPECT_EQ(deletes.test(6), Hidden::kNo);
  add(deletes, "r/f:q/5/delete_column");
  EXPECT_EQ(deletes.test(6), Hidden::kNo);
  EXPECT_EQ(deletes.test(5), Hidden::kByColumn);
  EXPECT_EQ(deletes.test(4), Hidden::kByColumn);
  EXPECT_EQ(deletes.test(3), Hidden::kByFamily);
  EXPECT_EQ(deletes.test(0), Hidden::kByFamily);
}

TEST(DeleteTracker, ColumnAndRowEnd) {
  DeleteTracker deletes;
  deletes.enter_row();
  add(deletes, "r/f:/9/delete_family_version");
  add(deletes, "r/f:/3/delete_family");
  deletes.enter_column();
  add(deletes, "r/f:q/8/delete_column");
  add(deletes, "r/f:q/7/delete");
  deletes.enter_column();
  EXPECT_EQ(deletes.test(8), Hidden::kNo);
  EXPECT_EQ(deletes.test(7), Hidden::kNo);
  EXPECT_EQ(deletes.test(9), Hidden::kByFamilyVersion);
  EXPECT_EQ(deletes.test(3), Hidden::kByFamily);
  deletes.enter_row();
  EXPECT_EQ(deletes.test(9), Hidden::kNo);
  EXPECT_EQ(deletes.test(3), Hidden::kNo);
}

TEST(DeleteTracker, TimestampZeroIsATime) {
  DeleteTracker deletes;
  deletes.enter_row();
  EXPECT_EQ(deletes.test(0), Hidden::kNo);
  add(deletes, "r/f:/0/delete_family");
  EXPECT_EQ(deletes.test(0), Hidden::kByFamily);
}

SequenceTracker::Fate put(SequenceTracker& tracker, std::string_view cell, uint32_t versions) {
  return tracker.put(owned(parse_cell(cell)).view(), versions);
}

TEST(SequenceTracker, HidesOnlyWhatWasWrittenBefore) {
  using enum SequenceTracker::Fate;
  SequenceTracker tracker;
  tracker.enter_row();
  add(tracker, "r/f:/9/delete_family#5");
  tracker.enter_column();
  EXPECT_EQ(put(tracker, "r/f:q/10#1", 9), kVisible);
  EXPECT_EQ(put(tracker, "r/f:q/9#6", 9), kVisible);
  EXPECT_EQ(put(tracker, "r/f:q/8#5", 9), kVisible);
  EXPECT_EQ(put(tracker, "r/f:q/7#4", 9), kHidden);
  tracker.enter_row();
  EXPECT_EQ(put(tracker, "r/f:q/7#4", 9), kVisible);
}

TEST(SequenceTracker, CountsAtTheWorstMoment) {
  using enum SequenceTracker::Fate;
  SequenceTracker tracker;
  tracker.enter_row();
  EXPECT_EQ(put(tracker, "r/f:q/4#4", 3), kVisible);
  add(tracker, "r/f:q/3/delete#5");
  EXPECT_EQ(put(tracker, "r/f:q/3#3", 3), kHidden);
  EXPECT_EQ(put(tracker, "r/f:q/2#2", 3), kVisible);
  EXPECT_EQ(put(tracker, "r/f:q/1#1", 3), kOverLimit);
  EXPECT_EQ(put(tracker, "r/f:q/0#6", 3), kVisible);  // written after the delete, when there were two
}

TEST(SequenceTracker, OverwrittenPutsCountUntilThen) {
  using enum SequenceTracker::Fate;
  SequenceTracker tracker;
  tracker.enter_row();
  EXPECT_EQ(put(tracker, "r/f:q/5#5", 2), kVisible);
  EXPECT_EQ(put(tracker, "r/f:q/5#2", 2), kOverwritten);
  add(tracker, "r/f:q/4/delete#4");
  EXPECT_EQ(put(tracker, "r/f:q/4#3", 2), kHidden);
  EXPECT_EQ(put(tracker, "r/f:q/3#6", 2), kVisible);
}

TEST(Rules, ExpiryIsExclusive) {
  FamilyRules family;
  EXPECT_FALSE(expired(family, 0, INT64_MAX));
  family.ttl_ms = 10;
  EXPECT_FALSE(expired(family, 40, 50));
  EXPECT_TRUE(expired(family, 39, 50));
  EXPECT_FALSE(expired(family, 60, 50));
  EXPECT_FALSE(expired(family, kLatestTimestamp, 50));
  EXPECT_TRUE(expired(family, kOldestTimestamp, INT64_MAX));
}

TEST(Rules, CellsEndTheirOwnLives) {
  EXPECT_FALSE(cell_ttl_over(owned(parse_cell("r/f:q/40")).view(), 1000));
  EXPECT_FALSE(cell_ttl_over(owned(parse_cell("r/f:q/40= +ttl=10")).view(), 50));
  EXPECT_TRUE(cell_ttl_over(owned(parse_cell("r/f:q/40= +ttl=10")).view(), 51));
  EXPECT_FALSE(cell_ttl_over(owned(parse_cell("r/f:q/40= +8=short")).view(), 51));
  EXPECT_FALSE(cell_ttl_over(owned(parse_cell("r/f:q/40= +ttl=9223372036854775807")).view(), INT64_MAX));
}

}  // namespace
}  // namespace cellar::testing
