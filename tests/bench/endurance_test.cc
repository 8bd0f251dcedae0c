// The endurance run: it finds wrong answers, and its threads and checks agree with a store that is right.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "bench/endurance/run.h"
#include "tests/support/scratch_directory.h"

namespace cellar::bench::endurance {
namespace {

constexpr RowState kFirst = state_after(kNeverWritten, false);

TEST(EnduranceRows, StatesSayWhetherARowIsDeleted) {
  EXPECT_TRUE(is_deleted(kNeverWritten));
  EXPECT_FALSE(is_deleted(kFirst));
  const RowState deleted = state_after(kFirst, true);
  EXPECT_TRUE(is_deleted(deleted));
  EXPECT_FALSE(is_deleted(state_after(deleted, false)));
  EXPECT_TRUE(is_deleted(state_after(deleted, true)));
  EXPECT_LT(kFirst, deleted);
  EXPECT_LT(deleted, state_after(deleted, true));
}

TEST(EnduranceRows, WrongAnswersAreFound) {
  Rows rows(10, 100);
  std::string value, room;
  const RowState second = state_after(kFirst, false), third = state_after(second, false);
  rows.fill(3, second, value);
  EXPECT_TRUE(rows.check(3, value, second, second, room).ok());
  EXPECT_TRUE(rows.check(3, value, kFirst, third, room).ok());
  EXPECT_EQ(rows.check(4, value, second, second, room).code(), Code::kCorruption)
      << "the value of another row";
  EXPECT_EQ(rows.check(3, value, third, third, room).code(), Code::kCorruption) << "an old value";
  EXPECT_EQ(rows.check(3, value, kFirst, kFirst, room).code(), Code::kCorruption)
      << "a value not yet written";
  for (size_t at : {size_t{0}, value.size() / 2, value.size() - 1}) {
    std::string damaged = value;
    damaged[at] ^= 1;
    EXPECT_EQ(rows.check(3, damaged, kFirst, third, room).code(), Code::kCorruption) << "byte " << at;
  }
  EXPECT_EQ(rows.check(3, value.substr(1), second, second, room).code(), Code::kCorruption);
  EXPECT_EQ(rows.check_missing(3, second, second).code(), Code::kCorruption);
  EXPECT_TRUE(rows.check_missing(3, state_after(second, true), state_after(second, true)).ok());
  EXPECT_TRUE(rows.check_missing(3, second, third).ok()) << "it may have been deleted between the two";
}

TEST(EnduranceRows, KeysOfOthersAreFound) {
  EXPECT_EQ(row_number(RowKey().present(17).view()).value(), 17u);
  for (const std::string_view key : {"", "user", "user000000000001", "user00000000001x", "other"})
    EXPECT_EQ(row_number(key).status().code(), Code::kCorruption) << key;
}

class EnduranceRun : public ::testing::Test {
 protected:
  void SetUp() override {
    RunPlan plan;
    plan.directory = directory_ / "store";
    plan.rows = 2000;
    plan.value_bytes = 100;
    plan.seconds = 1;
    plan.event_ttl_s = 1;
    plan.engine.memtable_bytes = 64 << 10;
    auto made = endurance::Run::create(plan);
    ASSERT_TRUE(made.ok()) << made.status();
    run_ = std::move(made).value();
    ASSERT_TRUE(run_->load().ok());
  }

  cellar::testing::ScratchDirectory directory_;
  std::unique_ptr<endurance::Run> run_;
};

TEST_F(EnduranceRun, WritersAndReadersFindWhatTheyExpect) {
  {
    std::vector<std::jthread> threads;
    for (uint32_t i = 0; i < run_->plan.writers; ++i)
      threads.emplace_back([&, i] { EXPECT_TRUE(write_for_long(*run_, i).ok()); });
    threads.emplace_back([&] { EXPECT_TRUE(scan_for_long(*run_).ok()); });
    std::this_thread::sleep_for(std::chrono::seconds(2));  // events expire
    run_->stop();
  }
  EXPECT_TRUE(run_->check().ok());
  ASSERT_TRUE(run_->reopen().ok());
  EXPECT_TRUE(run_->check().ok());
  uint64_t done = 0;
  for (const auto& times : run_->times) {
    for (const Histogram& each : times->take()) done += each.total();
  }
  EXPECT_GT(done, 100u);
  EXPECT_GT(run_->rows_scanned.load(), 0u);
}

TEST_F(EnduranceRun, ALostRowAndALostIncrementAreFound) {
  ASSERT_TRUE(run_->check().ok());
  run_->incremented += 1;
  EXPECT_EQ(run_->check().code(), Code::kCorruption);
  run_->incremented -= 1;
  ASSERT_TRUE(run_->table->erase(Delete(RowKey().present(7).view())).ok());
  EXPECT_EQ(run_->check().code(), Code::kCorruption);
  EXPECT_EQ(scan_for_long(*run_).code(), Code::kCorruption);
}

}  // namespace
}  // namespace cellar::bench::endurance
