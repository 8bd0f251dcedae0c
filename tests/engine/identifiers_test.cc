// Goal: no identifier is given out twice, whatever ends, steps back or fails.
// Method: threads take identifiers at the same time. Engines are closed and opened again. Clocks step back
// and stand still. A worker's number is taken from an object that still lives. Writes fail.
#include "cellar/identifiers.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class IdentifiersTest : public EngineFixture {
 protected:
  void begin() {
    open();
    table_ = make_table("ids", {family("n")});
  }
  std::unique_ptr<Identifiers> leased(int64_t block) {
    return leased_identifiers(table_, "orders", "n", "next", block).value();
  }
  std::unique_ptr<Identifiers> by_time() {
    return time_ordered_identifiers(table_, "workers", "n", time_).value();
  }
  int64_t take(Identifiers& from) {
    const Result<int64_t> id = from.next();
    EXPECT_OK(id.status());
    const int64_t number = id.ok() ? *id : -1;
    EXPECT_TRUE(taken_.insert(number).second) << number << " was given out twice";
    return number;
  }
  void take_in_threads(Identifiers& from, int threads, int each) {
    std::vector<std::vector<int64_t>> ids(static_cast<size_t>(threads));
    std::vector<std::thread> running;
    for (auto& mine : ids)
      running.emplace_back([&] {
        for (int i = 0; i < each; ++i) mine.push_back(from.next().value_or(-1));
      });
    for (std::thread& thread : running) thread.join();
    for (const auto& mine : ids)
      for (const int64_t id : mine) EXPECT_TRUE(taken_.insert(id).second) << id;
    EXPECT_FALSE(taken_.contains(-1));
  }

  static constexpr int64_t kNow = 1'700'000'000'000;
  cellar::ManualClock time_{kNow};
  std::shared_ptr<Table> table_;
  std::set<int64_t> taken_;
};

TEST_F(IdentifiersTest, LeasedOnesOfManyThreadsHaveNoGap) {
  begin();
  const auto ids = leased(100);
  take_in_threads(*ids, 8, 500);
  EXPECT_EQ(*taken_.begin(), 1);
  EXPECT_EQ(*taken_.rbegin(), 4000);
  EXPECT_EQ(table_->get_row(Get("orders")).value().counter("n", "next"), 4000);
}

TEST_F(IdentifiersTest, LeasedOnesGoOnAfterARestartWithANewBlock) {
  begin();
  {
    const auto first = leased(10);
    const auto second = leased(10);
    EXPECT_EQ(take(*first), 1);
    EXPECT_EQ(take(*second), 11);
    EXPECT_EQ(take(*first), 2);
  }
  table_.reset();
  begin();
  EXPECT_EQ(take(*leased(5)), 21);
  EXPECT_EQ(take(*leased(1)), 26);
  EXPECT_TRUE(leased_identifiers(table_, "r", "n", "q", 0).status().is(Code::kInvalidArgument));
  EXPECT_OK(table_->put(Put("r").add("n", "q", "no counter")));
  EXPECT_TRUE(leased_identifiers(table_, "r", "n", "q").value()->next().status().is(Code::kInvalidArgument));
}

TEST_F(IdentifiersTest, ThoseByTimeHaveTheirPartsAndRise) {
  begin();
  const auto ids = by_time();
  const auto other = by_time();
  int64_t before = take(*ids);
  EXPECT_EQ(time_of_identifier(before), kNow);
  EXPECT_EQ(worker_of_identifier(before), 1u);
  EXPECT_EQ(worker_of_identifier(take(*other)), 2u);
  for (int i = 0; i < 20'000; ++i) {
    if (i == 5000) time_.add_ms(-86'400'000);
    if (i == 15'000) time_.set_ms(0);
    const int64_t id = take(*ids);
    ASSERT_GT(id, before) << i;
    before = id;
  }
  EXPECT_EQ(time_of_identifier(before), kNow + 4) << "4,096 fit into a millisecond";
  time_.set_ms(kNow + 100);
  EXPECT_GT(take(*other), before) << "a later time sorts after all";
  take_in_threads(*ids, 4, 3000);
}

TEST_F(IdentifiersTest, AWorkersNumberComesAgainWhileItsOwnerLives) {
  begin();
  const auto first = by_time();
  const uint32_t number = worker_of_identifier(take(*first));
  std::unique_ptr<Identifiers> again;
  uint32_t others = 0;
  do {
    time_.add_ms(-1);  // every clock is a little slower than the one before
    again = by_time();
    ++others;
  } while (worker_of_identifier(take(*again)) != number);
  EXPECT_EQ(others, 1024u);
  for (int i = 0; i < 6000; ++i) {
    take(*first);
    take(*again);
    if (i % 3 == 0) time_.add_ms(2);
  }
  EXPECT_NE(worker_of_identifier(take(*first)), number) << "it took another number";
  EXPECT_EQ(worker_of_identifier(take(*again)), number);
}

TEST_F(IdentifiersTest, ThoseByTimeAreNewAfterARestartWhoseClockIsBehind) {
  begin();
  for (int life = 0; life < 5; ++life) {
    {
      const auto ids = by_time();
      for (int i = 0; i < 5000; ++i) take(*ids);
    }
    // The same number in each life.
    EXPECT_OK(table_->put(Put("workers").add("n", "starts", plain_int64(0))));
    table_.reset();
    begin();
    time_.add_ms(-10'000);
  }
}

// A write that failed may have reached the log, or not. Neither a block nor a mark is used then.
TEST_F(IdentifiersTest, AFailedWriteGivesOutNothingTwice) {
  FaultFileSystem& faults = watch_files();
  begin();
  const auto ids = by_time();
  const auto blocks = leased(3);
  for (uint64_t nth = 1; nth < 12; ++nth) {
    for (int i = 0; i < 3; ++i) take(*blocks);
    for (int i = 0; i < 100; ++i) take(*ids);
    time_.add_ms(2000);
    faults.fail(nth % 2 == 0 ? FileOperation::kAppend : FileOperation::kSync, "wal/*", 1);
    EXPECT_FALSE(blocks->next().ok()) << nth;
    EXPECT_FALSE(ids->next().ok()) << nth;
    faults.clear();
    EXPECT_OK(engine_->resume());
    take(*ids);
  }
}

TEST_F(IdentifiersTest, TimesThatCannotBeAreRefused) {
  begin();
  const auto ids = by_time();
  time_.set_ms(4'000'000'000'000);  // the year 2096
  EXPECT_TRUE(ids->next().status().is(Code::kInvalidArgument));
  time_.set_ms(kNow);
  take(*ids);
  EXPECT_OK(table_->put(Put("workers").add("n", "mark2", plain_int64(INT64_MAX))));
  EXPECT_TRUE(time_ordered_identifiers(table_, "workers", "n", time_).status().is(Code::kCorruption));
  EXPECT_TRUE(time_ordered_identifiers(table_, "workers", "none", time_).status().is(Code::kInvalidArgument));
}

TEST_F(IdentifiersTest, ACheckpointKnowsTheTimesThatWereGivenOut) {
  begin();
  int64_t newest = 0;
  for (int i = 0; i < 3000; ++i) newest = engine_->unique_time_us().value();  // ahead of the clock
  EXPECT_OK(engine_->checkpoint("copy").status());
  EngineOptions options;
  options.environment = {.files = files_.get(), .clock = &time_};
  const auto copy = Engine::open("copy", options);
  ASSERT_TRUE(copy.ok()) << copy.status().to_text();
  EXPECT_GT((*copy)->unique_time_us().value(), newest);
}

}  // namespace
}  // namespace cellar::testing
