// Goal: writers log one at a time, insert side by side, and become visible in the order of the log. A wake
// reaches only the thread it is for, and none is lost. Method: an executor whose events count how often a
// waiting thread returns, and writers that a test holds up. Many writers at once look at what is visible.
#include "engine/write/commit_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/engine/engine_fixture.h"
#include "tests/support/manual_clock.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// Counts the threads that wait, and the returns from waiting.
class WakeCountingExecutor final : public Executor {
 public:
  void submit(JobPriority priority, std::function<void()> job) override {
    inner_->submit(priority, std::move(job));
  }
  void submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) override {
    inner_->submit_later(priority, delay_us, std::move(job));
  }
  void checkpoint() override { inner_->checkpoint(); }
  std::unique_ptr<Event> make_event() override {
    return std::make_unique<CountingEvent>(*this, inner_->make_event());
  }
  void await_waiting(int threads) const {
    while (waiting_.load() != threads) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  int wakes() const { return wakes_.load(); }

 private:
  class CountingEvent final : public Event {
   public:
    CountingEvent(WakeCountingExecutor& counts, std::unique_ptr<Event> inner)
        : counts_(counts), inner_(std::move(inner)) {}
    uint64_t count() const override { return inner_->count(); }
    void signal() override { inner_->signal(); }
    void wait(uint64_t seen, int64_t timeout_us) override {
      ++counts_.waiting_;
      inner_->wait(seen, timeout_us);
      --counts_.waiting_;
      ++counts_.wakes_;
    }

   private:
    WakeCountingExecutor& counts_;
    const std::unique_ptr<Event> inner_;
  };

  const std::unique_ptr<Executor> inner_ = make_thread_executor(1, 1);
  std::atomic<int> waiting_{0};
  std::atomic<int> wakes_{0};
};

class CommitOrderTest : public ::testing::Test {
 protected:
  // Enters with the next sequence, which it stores in `sequence`.
  uint64_t enter(uint64_t* sequence = nullptr) {
    const TurnHeld held(order_.turn());
    const uint64_t taken = mvcc_.take_sequence();
    if (sequence != nullptr) *sequence = taken;
    return order_.enter(taken);
  }
  std::thread settler(uint64_t place, bool inserted) {
    return std::thread([this, place, inserted] { order_.settle(place, inserted); });
  }

  WakeCountingExecutor executor_;
  ManualClock clock_;
  Mvcc mvcc_{clock_, executor_};
  CommitOrder order_{executor_, mvcc_};
};

TEST_F(CommitOrderTest, NothingIsVisibleBeforeWhatWasLoggedBefore) {
  constexpr int kWriters = 5;
  std::vector<uint64_t> places;
  for (int i = 0; i < kWriters; ++i) places.push_back(enter());
  std::vector<std::thread> threads;
  for (int i = kWriters; --i > 0;) {
    threads.push_back(settler(places[static_cast<size_t>(i)], true));
    executor_.await_waiting(kWriters - i);
  }
  EXPECT_EQ(mvcc_.read_point(), 0u);
  EXPECT_EQ(executor_.wakes(), 0) << "no writer wakes for a write that is not its own";
  order_.settle(places[0], true);
  EXPECT_EQ(mvcc_.read_point(), uint64_t{kWriters});
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(executor_.wakes(), kWriters - 1);
}

TEST_F(CommitOrderTest, AFailedWriteHoldsUpNobodyAndShowsNothing) {
  const uint64_t first = enter();
  const uint64_t second = enter();
  std::thread failed = settler(second, false);
  executor_.await_waiting(1);
  order_.settle(first, true);
  failed.join();
  EXPECT_EQ(mvcc_.read_point(), 1u);
  order_.settle(enter(), true);
  EXPECT_EQ(mvcc_.read_point(), 3u);
}

TEST_F(CommitOrderTest, ATurnThatIsGivenBackWakesOneThread) {
  constexpr int kWriters = 8;
  std::vector<std::thread> threads;
  order_.turn().take();
  std::counting_semaphore<kWriters> go_on(0);
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&] {
      const TurnHeld held(order_.turn());
      go_on.acquire();
    });
    executor_.await_waiting(i + 1);
  }
  order_.turn().give();
  for (int i = 1; i <= kWriters; ++i) {
    executor_.await_waiting(kWriters - i);
    EXPECT_EQ(executor_.wakes(), i);
    go_on.release();
  }
  for (std::thread& each : threads) each.join();
  EXPECT_FALSE(order_.turn().taken());
}

TEST_F(CommitOrderTest, WorkAloneWaitsForAllThatEntered) {
  const uint64_t place = enter();
  std::atomic<bool> done = false;
  std::thread alone([&] {
    EXPECT_OK(order_.alone([&] {
      EXPECT_EQ(mvcc_.read_point(), 1u);
      return done = true, Status();
    }));
  });
  executor_.await_waiting(1);
  EXPECT_FALSE(done);
  order_.settle(place, true);
  alone.join();
  EXPECT_TRUE(done);
}

// Work alone waits for the last place, and so does the writer of that place, which waits to be called.
TEST_F(CommitOrderTest, ACallReachesTheWriterNotAThreadThatWaitsForThePlace) {
  const uint64_t place = enter();
  std::thread alone([&] { EXPECT_OK(order_.alone([] { return Status(); })); });
  executor_.await_waiting(1);
  std::atomic<bool> called = false;
  std::thread writer([&] {
    order_.await_call(place, called);
    EXPECT_TRUE(called);
    order_.settle(place, true);
  });
  executor_.await_waiting(2);
  called = true;
  order_.call(place);
  writer.join();
  alone.join();
  EXPECT_EQ(executor_.wakes(), 2) << "each thread was woken once";
}

TEST_F(CommitOrderTest, MoreWritersThanPlacesWait) {
  std::vector<uint64_t> places;
  for (int i = 0; i < 256; ++i) places.push_back(enter());
  std::thread one_more([&] { order_.settle(enter(), true); });
  executor_.await_waiting(1);
  std::vector<std::thread> others;
  for (size_t i = places.size(); --i > 0;) others.push_back(settler(places[i], true));
  order_.settle(places[0], true);
  for (std::thread& each : others) each.join();
  one_more.join();
  EXPECT_EQ(mvcc_.read_point(), 257u);
}

// Each writer notes its sequence as inserted before it settles. Nobody may see a read point with a gap below
// it.
TEST_F(CommitOrderTest, LosesNoWakeAndNoOrder) {
  constexpr int kThreads = 6;
  const uint64_t rounds = scaled(3000);
  std::vector<std::atomic<bool>> inserted(kThreads * rounds + 1);
  std::atomic<uint64_t> alone = 0;
  const auto check = [&](uint64_t checked) {
    const uint64_t visible = mvcc_.read_point();
    for (uint64_t sequence = checked + 1; sequence <= visible; ++sequence) ASSERT_TRUE(inserted[sequence]);
  };
  const auto write = [&](bool fails) {
    uint64_t sequence = 0;
    const uint64_t place = enter(&sequence);
    const uint64_t before = mvcc_.read_point();
    inserted[sequence] = true;  // a failed one, too, so that it makes no gap
    order_.settle(place, !fails);
    if (!fails) {
      EXPECT_GE(mvcc_.read_point(), sequence);
    }
    check(before);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (uint64_t round = 0; round < rounds; ++round) {
        if (i == 0 && round % 16 == 0) {
          EXPECT_OK(order_.alone([&] { return ++alone, Status(); }));
        } else {
          write(round % 50 == 7);
        }
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(alone, (rounds + 15) / 16);
  write(false);
  EXPECT_EQ(mvcc_.read_point(), kThreads * rounds - alone + 1);
}

}  // namespace
}  // namespace cellar::testing
