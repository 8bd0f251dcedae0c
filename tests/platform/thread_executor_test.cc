// Goal: jobs of a priority start in order, all of them run before the executor ends, and no signal is ever
// lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// Waits until the event has this many signals. The counter is asked once before each wait: a signal between
// two questions would be missed.
void await_count(Event& event, uint64_t signals) {
  for (uint64_t seen = 0; (seen = event.count()) < signals;) event.wait(seen, -1);
}

}  // namespace

TEST(ThreadExecutor, JobsOfAPriorityStartInOrder) {
  std::vector<int> started;
  {
    const auto executor = make_thread_executor(1, 1);
    for (int i = 0; i < 100; ++i)
      executor->submit(JobPriority::kLow, [&started, i] { started.push_back(i); });
  }
  ASSERT_EQ(started.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(started[static_cast<size_t>(i)], i);
}

TEST(ThreadExecutor, PrioritiesDoNotWaitForEachOther) {
  const auto executor = make_thread_executor(1, 1);
  const auto event = executor->make_event();
  std::atomic<bool> low_ran = false;
  executor->submit(JobPriority::kLow, [&] {
    event->wait(0, -1);
    low_ran = true;
  });
  executor->submit(JobPriority::kHigh, [&] { event->signal(); });
  event->wait(0, -1);
  while (!low_ran) std::this_thread::yield();
}

// The nearer job is submitted while the thread waits for the later one.
void jobs_are_run_when_they_are_due(JobPriority priority) {
  constexpr int64_t kFarUs = int64_t{3600} * 1'000'000;
  std::atomic<int> far_jobs = 0;
  std::vector<int64_t> ran_us;
  {
    const auto executor = make_thread_executor(1, 1);
    const auto event = executor->make_event();
    const int64_t begun_us = system_clock().steady_us();
    executor->submit_later(priority, kFarUs, [&] { ++far_jobs; });
    executor->submit_later(priority, INT64_MAX, [&] { ++far_jobs; });
    for (const int64_t delay_us : {30'000, 10'000, 20'000, 0})
      executor->submit_later(priority, delay_us, [&, delay_us] {
        EXPECT_GE(system_clock().steady_us() - begun_us, delay_us);
        ran_us.push_back(delay_us);
        event->signal();
      });
    await_count(*event, 4);
    executor->submit(priority, [&] { ran_us.push_back(-1); });
  }
  ASSERT_EQ(ran_us.size(), 5u);
  EXPECT_EQ(ran_us.back(), -1);
  EXPECT_EQ(far_jobs, 0) << "a job that is not due when the executor ends is dropped";
}

TEST(ThreadExecutor, JobsAreRunWhenTheyAreDueAndNotBefore) {
  jobs_are_run_when_they_are_due(JobPriority::kHigh);
  jobs_are_run_when_they_are_due(JobPriority::kLow);
}

// The thread that waits for the timer may get another job. That one takes as long as the job that is due.
TEST(ThreadExecutor, AnotherThreadTakesOverTheTimer) {
  const auto executor = make_thread_executor(1, 2);
  const auto event = executor->make_event();
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  for (int round = 0; round < 6; ++round) {
    const uint64_t seen = event->count();
    nap();
    executor->submit_later(JobPriority::kLow, 40'000, [&] { event->signal(); });
    for (int quick = 0; quick < round % 3; ++quick) {
      nap();
      executor->submit(JobPriority::kLow, [] {});
    }
    nap();
    std::atomic<bool> waits = true;
    executor->submit(JobPriority::kLow, [&] {
      event->wait(seen, 10'000'000);
      waits = false;
    });
    event->wait(seen, 5'000'000);
    EXPECT_GT(event->count(), seen) << "round " << round;
    while (waits) nap();
  }
}

// Every call wakes a thread, so that several threads wait until the first job is due. One of them takes it.
TEST(ThreadExecutor, SeveralThreadsWaitForTheSameJob) {
  constexpr uint64_t kJobs = 8;
  const auto executor = make_thread_executor(4, 1);
  const auto event = executor->make_event();
  for (uint64_t done = 0; done < 60 * kJobs;) {
    for (uint64_t i = 0; i < kJobs; ++i)
      executor->submit_later(JobPriority::kHigh, 500, [&] { event->signal(); });
    done += kJobs;
    await_count(*event, done);
  }
}

// A thread that has seen a signal may end the event while the signaller is still in signal().
TEST(ThreadExecutor, AnEventEndsAfterItsSignals) {
  const auto executor = make_thread_executor(2, 1);
  for (uint64_t round = 0; round < std::max<uint64_t>(100, scaled(20000)); ++round) {
    const auto event = executor->make_event();
    for (int i = 0; i < 2; ++i) executor->submit(JobPriority::kHigh, [&event = *event] { event.signal(); });
    await_count(*event, 2);
  }
}

TEST(ThreadExecutor, WhatJobsSubmitRunsTooBeforeTheEnd) {
  std::atomic<int> ran = 0;
  {
    const auto executor = make_thread_executor(2, 2);
    for (int i = 0; i < 20; ++i) {
      executor->submit(JobPriority::kHigh, [&] {
        executor->submit(JobPriority::kLow, [&] {
          executor->submit(JobPriority::kHigh, [&] { ++ran; });
          executor->checkpoint();
          ++ran;
        });
        ++ran;
      });
    }
  }
  EXPECT_EQ(ran, 60);
}

TEST(ThreadExecutor, AJobsCapturesAreGoneWithTheJob) {
  const auto executor = make_thread_executor(1, 1);
  auto captured = std::make_shared<int>(1);
  executor->submit(JobPriority::kLow, [captured] {});
  while (captured.use_count() > 1) std::this_thread::yield();
}

TEST(ThreadEvent, CountsAndTimesOut) {
  const auto executor = make_thread_executor(1, 1);
  const auto event = executor->make_event();
  EXPECT_EQ(event->count(), 0U);
  event->signal();
  event->signal();
  EXPECT_EQ(event->count(), 2U);
  event->wait(0, -1);
  event->wait(1, -1);
  event->wait(2, 0);
  const int64_t before = system_clock().steady_us();
  event->wait(2, 20'000);
  EXPECT_GE(system_clock().steady_us() - before, 20'000);
  event->wait(1, INT64_MAX);
}

// Two threads hand a number back and forth; a lost signal would hang the test.
TEST(ThreadEvent, NoSignalIsLost) {
  const auto executor = make_thread_executor(1, 1);
  const auto ping = executor->make_event();
  const auto pong = executor->make_event();
  constexpr uint64_t kRounds = 20'000;
  std::thread other([&] {
    for (uint64_t i = 0; i < kRounds; ++i) {
      ping->wait(i, -1);
      pong->signal();
    }
  });
  for (uint64_t i = 0; i < kRounds; ++i) {
    ping->signal();
    pong->wait(i, -1);
  }
  other.join();
  EXPECT_EQ(pong->count(), kRounds);
}

TEST(ThreadEvent, ASignalWakesAllWaiters) {
  const auto executor = make_thread_executor(1, 1);
  const auto event = executor->make_event();
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) waiters.emplace_back([&] { event->wait(0, -1); });
  event->signal();
  for (std::thread& waiter : waiters) waiter.join();
}

TEST(ThreadExecutorDeathTest, WaitingUnderALockIsABrokenPromise) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        const auto executor = make_thread_executor(1, 1);
        Mutex mutex;
        const MutexLock lock(mutex);
        executor->checkpoint();
      },
      "mutexes_held");
}

}  // namespace cellar::testing
