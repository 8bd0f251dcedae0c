// Goal: when compactions do not keep up, writes are slowed evenly. They are slowed early and a little rather
// than late and to a halt. Method: the pace alone, with times given.
#include "engine/store/write_pace.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cellar::testing {
namespace {

TEST(WritePaceTest, DebtGrowsFromHalfOfSlowToStop) {
  EXPECT_EQ(compaction_debt(0, 12, 16), 0);
  EXPECT_EQ(compaction_debt(5, 12, 16), 0);
  double before = 0;
  for (uint64_t files = 6; files <= 16; ++files) {
    const double debt = compaction_debt(files, 12, 16);
    EXPECT_GT(debt, before) << files;
    EXPECT_LE(debt, 1) << files;
    before = debt;
  }
  EXPECT_EQ(compaction_debt(16, 12, 16), 1);
  EXPECT_EQ(compaction_debt(1, 1, 2), 0);
  EXPECT_EQ(compaction_debt(2, 1, 2), 1);
  EXPECT_EQ(compaction_debt(99, 1'000'000, 1'000'000), 0);
}

TEST(WritePaceTest, SustainableIsWhatWasFlushedInTheTimeOfCompactions) {
  WritePace pace;
  EXPECT_EQ(pace.sustainable(), WritePace::kUnknownBytesPerSecond);
  pace.flushed(40 << 20, 1);
  EXPECT_EQ(pace.sustainable(), WritePace::kUnknownBytesPerSecond);
  pace.compacted(10'000'000);
  EXPECT_DOUBLE_EQ(pace.sustainable(), 4 << 20);
  EXPECT_GT(pace.rate(0.1), pace.sustainable());
  EXPECT_LT(pace.rate(1), pace.sustainable() / 2);
  EXPECT_LT(pace.rate(1.5), pace.rate(1));
  EXPECT_EQ(pace.rate(2), WritePace::kLeastBytesPerSecond / 4) << "writes never stop by debt alone";
  // The past fades.
  for (int i = 0; i < 50; ++i) {
    pace.flushed(10 << 20, 1);
    pace.compacted(10'000'000);
  }
  EXPECT_NEAR(pace.sustainable(), 1 << 20, 1 << 16);
}

TEST(WritePaceTest, BacklogGrowsWithWhatIsWrittenDuringALongCompaction) {
  constexpr uint64_t kFlush = 64 << 20;
  EXPECT_EQ(backlog_debt(uint64_t{100} << 30, 0, kFlush), 0) << "no compaction runs";
  // Flushes come during short compactions, too.
  EXPECT_EQ(backlog_debt(4 * kFlush, 3 * kFlush, kFlush), 0);
  constexpr uint64_t kInputs = uint64_t{10} << 30;
  double before = 0;
  for (uint64_t newer = 5 * kFlush; newer < kInputs / 5; newer += kFlush) {
    const double debt = backlog_debt(newer, kInputs, kFlush);
    EXPECT_GT(debt, before) << newer;
    before = debt;
  }
  EXPECT_LT(before, 1);
  EXPECT_EQ(backlog_debt(kInputs / 2, kInputs, kFlush), 1);
}

TEST(WritePaceTest, DebtOfThePolicyCountsInProportionToTheRest) {
  constexpr uint64_t kFlush = 64 << 20;
  constexpr uint64_t kRest = uint64_t{10} << 30;
  EXPECT_EQ(policy_debt(0, 0, 0), 0);
  EXPECT_EQ(policy_debt(2 * kFlush, 2 * kFlush, kFlush), 0) << "two memtables are always allowed";
  double before = 0;
  for (uint64_t debt = 3 * kFlush; debt < kRest / 20 * 3; debt += kFlush) {
    const double now = policy_debt(debt, kRest + debt, kFlush);
    EXPECT_GT(now, before) << debt;
    EXPECT_LT(now, policy_debt(debt, kRest / 2 + debt, kFlush) + 1e-9) << debt;
    before = now;
  }
  EXPECT_LT(before, 1);
  EXPECT_EQ(policy_debt(kRest, 2 * kRest, kFlush), 2);
  EXPECT_EQ(policy_debt(5, 3, 0), 2) << "the sizes were read one after the other";
}

TEST(WritePaceTest, WhatBecomesDebtIsNotSustained) {
  WritePace pace;
  pace.flushed(40 << 20, 1);
  pace.compacted(10'000'000);
  pace.debt_grew(20 << 20);
  EXPECT_DOUBLE_EQ(pace.sustainable(), 2 << 20);
  pace.debt_grew(-(20 << 20));
  EXPECT_DOUBLE_EQ(pace.sustainable(), 4 << 20);
  pace.debt_grew(int64_t{1} << 40);
  EXPECT_EQ(pace.sustainable(), WritePace::kLeastBytesPerSecond);
}

TEST(WritePaceTest, FlushesSetTheRateBeforeWritesWouldWaitForThem) {
  WritePace pace;
  EXPECT_GT(pace.flush_rate(0), 0);
  for (int i = 0; i < 20; ++i) pace.flushed(64 << 20, 1'000'000);
  EXPECT_NEAR(pace.flush_rate(0), 1.2 * (64 << 20), 1 << 16);
  EXPECT_NEAR(pace.flush_rate(1), 0.2 * (64 << 20), 1 << 16);
  EXPECT_EQ(pace.flush_rate(7), pace.flush_rate(1));
  for (int i = 0; i < 20; ++i) pace.flushed(64 << 20, 4'000'000);  // the past fades
  EXPECT_NEAR(pace.flush_rate(0), 1.2 * (16 << 20), 1 << 16);
}

// A writer that always waits as told writes at the rate, within a hundredth, whatever the size of its writes.
TEST(WritePaceTest, WritersKeepTheRate) {
  for (const uint64_t bytes : {uint64_t{100}, uint64_t{10'000}, uint64_t{90'000}}) {
    WritePace pace;
    int64_t now = 5'000'000, longest = 0;
    const int64_t begun = now;
    uint64_t written = 0;
    while (now - begun < 10'000'000) {
      now += pace.wait_us(now);
      longest = std::max(longest, pace.wait_us(now));
      now += 1;  // the write itself
      pace.spend(bytes, 1e6, now);
      written += bytes;
    }
    EXPECT_NEAR(static_cast<double>(written), 1e7, 2e5) << bytes;
    EXPECT_LE(longest, WritePace::kWaitUsMax);
  }
}

TEST(WritePaceTest, UnusedTimeIsNotSavedUp) {
  WritePace pace;
  pace.spend(1000, 1e6, 1'000'000);
  EXPECT_EQ(pace.wait_us(100'000'000), 0);
  int64_t writes = 0;
  while (pace.wait_us(100'000'000) == 0) {
    pace.spend(1000, 1e6, 100'000'000);
    ++writes;
  }
  EXPECT_LE(writes, WritePace::kBurstUs / 1000 + 2);
}

}  // namespace
}  // namespace cellar::testing
