// Goal: locks of rows exclude what they must, are taken in one order, and are all released. Method: one
// thread waits for no time, so that a lock that is held is an error at once. Two threads test the waits
// themselves.
#include "engine/store/row_locks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

using Mode = RowLocks::Mode;
constexpr int64_t kNoWait = 0;
constexpr int64_t kLongWaitUs = 600'000'000;

class RowLocksTest : public ::testing::Test {
 protected:
  RowLocksTest() {
    if (RowLocks::stripe_of(low_) > RowLocks::stripe_of(high_)) std::swap(low_, high_);
  }
  bool is_free(const std::string& row, Mode mode) {
    const size_t stripe = RowLocks::stripe_of(row);
    if (!locks_.try_lock(stripe, mode)) return false;
    locks_.unlock(stripe, mode);
    return true;
  }
  // Another row of the same stripe.
  static std::string neighbour_of(const std::string& row) {
    for (int i = 0;; ++i)
      if (RowLocks::stripe_of("n" + std::to_string(i)) == RowLocks::stripe_of(row))
        return "n" + std::to_string(i);
  }

  std::unique_ptr<Executor> executor_ = make_thread_executor(1, 1);
  RowLocks locks_{*executor_};
  ManualClock clock_;
  std::string low_ = "a", high_ = "b";  // rows of a lower and of a higher stripe
};

TEST_F(RowLocksTest, SharedHoldersKeepOnlyExclusiveOnesOut) {
  RowLockSet holder(locks_, Mode::kShared);
  EXPECT_OK(holder.lock_row(low_, kNoWait, clock_));
  EXPECT_TRUE(is_free(low_, Mode::kShared));
  EXPECT_FALSE(is_free(low_, Mode::kExclusive));
  EXPECT_TRUE(is_free(high_, Mode::kExclusive));
}

TEST_F(RowLocksTest, AnExclusiveHolderKeepsAllOutUntilItEnds) {
  {
    RowLockSet holder(locks_, Mode::kExclusive);
    EXPECT_OK(holder.lock_row(low_, kNoWait, clock_));
    EXPECT_FALSE(is_free(low_, Mode::kShared));
    EXPECT_FALSE(is_free(low_, Mode::kExclusive));
    RowLockSet other(locks_, Mode::kShared);
    const Status status = other.lock_row(low_, kNoWait, clock_);
    EXPECT_TRUE(status.is(Code::kBusy)) << status.to_text();
    EXPECT_NE(status.to_text().find("row " + low_), std::string::npos) << status.to_text();
  }
  EXPECT_TRUE(is_free(low_, Mode::kExclusive));
}

TEST_F(RowLocksTest, RowsOfOneStripeAreLockedOnce) {
  const std::string neighbour = neighbour_of(low_);
  {
    RowLockSet holder(locks_, Mode::kExclusive);
    EXPECT_OK(holder.lock_rows({low_, high_, low_, neighbour, high_}, kNoWait, clock_));
    EXPECT_FALSE(is_free(low_, Mode::kShared));
    EXPECT_FALSE(is_free(high_, Mode::kShared));
  }
  EXPECT_TRUE(is_free(low_, Mode::kExclusive));
  EXPECT_TRUE(is_free(high_, Mode::kExclusive));
}

TEST_F(RowLocksTest, LocksAreTakenInTheOrderOfStripes) {
  RowLockSet first(locks_, Mode::kExclusive);
  EXPECT_OK(first.lock_row(low_, kNoWait, clock_));
  RowLockSet second(locks_, Mode::kExclusive);
  EXPECT_TRUE(second.lock_rows({high_, low_}, kNoWait, clock_).is(Code::kBusy));
  EXPECT_TRUE(is_free(high_, Mode::kExclusive)) << "who waits for a lower stripe holds no higher one";

  GrowingRowLocks third(locks_);
  third.want(high_, Mode::kExclusive);
  third.want(low_, Mode::kExclusive);
  EXPECT_TRUE(third.lock_all(kNoWait, clock_).is(Code::kBusy));
  EXPECT_TRUE(is_free(high_, Mode::kExclusive));
}

TEST_F(RowLocksTest, AGrowingSetTakesOnlyWhatIsFree) {
  RowLockSet holder(locks_, Mode::kShared);
  EXPECT_OK(holder.lock_row(low_, kNoWait, clock_));
  GrowingRowLocks growing(locks_);
  EXPECT_TRUE(growing.extend(high_, Mode::kShared));
  EXPECT_TRUE(growing.extend(high_, Mode::kShared));
  EXPECT_FALSE(growing.extend(high_, Mode::kExclusive)) << "a lock that is held is not made stronger";
  EXPECT_TRUE(growing.extend(low_, Mode::kShared));
  EXPECT_FALSE(growing.extend(low_, Mode::kExclusive));
  growing.release();
  EXPECT_TRUE(is_free(high_, Mode::kExclusive));
  EXPECT_TRUE(growing.lock_all(kNoWait, clock_).is(Code::kBusy)) << "the stronger lock is wanted now";
}

TEST_F(RowLocksTest, AnExclusiveWaiterThatGivesUpLeavesNoMark) {
  {
    RowLockSet holder(locks_, Mode::kShared);
    EXPECT_OK(holder.lock_row(low_, kNoWait, clock_));
    RowLockSet waiter(locks_, Mode::kExclusive);
    EXPECT_TRUE(waiter.lock_row(low_, kNoWait, clock_).is(Code::kBusy));
    EXPECT_TRUE(is_free(low_, Mode::kShared)) << "the mark of the exclusive waiter is gone with it";
  }
  EXPECT_TRUE(is_free(low_, Mode::kExclusive));
}

TEST_F(RowLocksTest, AnExclusiveWaiterIsNotPassedBySharedOnes) {
  std::atomic<bool> locked = false;
  std::thread waiter;
  {
    RowLockSet holder(locks_, Mode::kShared);
    EXPECT_OK(holder.lock_row(low_, kNoWait, clock_));
    waiter = std::thread([&] {
      RowLockSet exclusive(locks_, Mode::kExclusive);
      EXPECT_OK(exclusive.lock_row(low_, kLongWaitUs, clock_));
      locked = true;
    });
    while (is_free(low_, Mode::kShared)) std::this_thread::yield();  // ends once the other thread waits
    EXPECT_FALSE(locked);
  }
  waiter.join();
  EXPECT_TRUE(locked);
  EXPECT_TRUE(is_free(low_, Mode::kExclusive));
}

}  // namespace
}  // namespace cellar::testing
