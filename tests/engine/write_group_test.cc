// Goal: the end of a group of writes wakes the writers of that group and the next leader, and nobody else.
// Every write is applied once, in groups that follow the order of arrival. Method: an executor whose events
// count how often a waiting thread returns, and an apply function that a test holds up.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "engine/write/prepared_batch.h"
#include "engine/write/write_group.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// Commits a write without cells.
Status commit_to(WriteGroup& group) {
  PreparedBatch batch;
  PreparedWrite write{batch};
  WriteRequest request;
  request.prepared = &write;
  return group.commit(request);
}

// Counts the threads that wait, and the returns from waiting.
class CountingExecutor final : public Executor {
 public:
  void submit(JobPriority priority, std::function<void()> job) override {
    inner_->submit(priority, std::move(job));
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
    CountingEvent(CountingExecutor& counts, std::unique_ptr<Event> inner)
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
    CountingExecutor& counts_;
    const std::unique_ptr<Event> inner_;
  };

  const std::unique_ptr<Executor> inner_ = make_thread_executor(1, 1);
  std::atomic<int> waiting_{0};
  std::atomic<int> wakes_{0};
};

class WriteGroupTest : public ::testing::Test {
 protected:
  std::thread writer() {
    return std::thread([this] { EXPECT_OK(commit_to(group_)); });
  }
  void apply(std::span<WriteRequest*> group) {
    sizes_.push_back(group.size());
    begun_.release();
    go_on_.acquire();
  }

  CountingExecutor executor_;
  std::vector<size_t> sizes_;  // of the groups; the leaders'
  std::counting_semaphore<1000> begun_{0}, go_on_{0};
  WriteGroup group_{executor_, [this](std::span<WriteRequest*> group) { apply(group); }};
};

TEST_F(WriteGroupTest, WakesTheNextLeaderAndThenItsFollowersOnly) {
  constexpr int kWriters = 8;
  std::vector<std::thread> threads;
  threads.push_back(writer());
  begun_.acquire();
  for (int i = 1; i <= kWriters; ++i) {
    threads.push_back(writer());
    executor_.await_waiting(i);
  }
  EXPECT_EQ(executor_.wakes(), 0);
  go_on_.release();
  begun_.acquire();  // the second group is being applied
  EXPECT_EQ(executor_.wakes(), 1);
  executor_.await_waiting(kWriters - 1);
  for (int i = 0; i < kWriters; ++i) {
    threads.push_back(writer());
    executor_.await_waiting(kWriters + i);
  }
  go_on_.release();
  begun_.acquire();  // the third group is being applied
  executor_.await_waiting(kWriters - 1);
  EXPECT_EQ(executor_.wakes(), 1 + kWriters);
  go_on_.release();
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(executor_.wakes(), 2 * kWriters);
  EXPECT_EQ(sizes_, (std::vector<size_t>{1, kWriters, kWriters}));
}

TEST_F(WriteGroupTest, WakesWhomALargeQueueLeftBehind) {
  constexpr int kWriters = 120;  // more than one group may have
  std::vector<std::thread> threads;
  threads.push_back(writer());
  begun_.acquire();
  for (int i = 1; i <= kWriters; ++i) threads.push_back(writer());
  executor_.await_waiting(kWriters);
  go_on_.release(3);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(sizes_, (std::vector<size_t>{1, 100, 20}));
}

TEST_F(WriteGroupTest, LosesNoWake) {
  constexpr int kThreads = 6;
  const uint64_t rounds = scaled(2000);
  std::atomic<uint64_t> applied = 0;
  std::atomic<uint64_t> alone = 0;
  WriteGroup group(executor_, [&](std::span<WriteRequest*> requests) { applied += requests.size(); });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (uint64_t round = 0; round < rounds; ++round) {
        if (i == 0 && round % 16 == 0) {
          EXPECT_OK(group.alone([&] { return ++alone, Status(); }));
        } else {
          EXPECT_OK(commit_to(group));
        }
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(alone, (rounds + 15) / 16);
  EXPECT_EQ(applied + alone, kThreads * rounds);
}

}  // namespace
}  // namespace cellar::testing
