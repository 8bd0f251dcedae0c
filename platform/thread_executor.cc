// An executor with real threads, one queue per priority. Events cost the signaller two additions.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "cellar/environment.h"
#include "platform/condition.h"

namespace cellar {

namespace {

// The counter and the number of waiters are both sequentially consistent. Either the signaller sees the
// waiter, or the waiter sees the signal, because it checks the counter after announcing itself.
//
// Who waits may see the step of a signal, and end the event, before signal() has returned. So the destructor
// waits for signallers. Their number is in the word of the counter, because the counter steps with it.
class ThreadEvent final : public Event {
 public:
  ~ThreadEvent() override {
    while ((steps_.load() & (kStep - 1)) != 0) std::this_thread::yield();
  }

  uint64_t count() const override { return steps_.load() / kStep; }

  void signal() override {
    steps_.fetch_add(kStep + 1);
    if (waiters_.load() != 0) {
      { const MutexLock lock(mutex_); }  // a waiter that has checked the counter is asleep by now
      changed_.notify_all();
    }
    steps_.fetch_sub(1);
  }

  void wait(uint64_t seen, int64_t timeout_us) override {
    CELLAR_ASSERT(mutexes_held() == 0);
    if (count() > seen || timeout_us == 0) return;
    waiters_.fetch_add(1);
    {
      const MutexLock lock(mutex_);
      const auto stepped = [&] { return count() > seen; };
      // A timeout of more than a century means no limit: adding it to the clock would overflow.
      constexpr int64_t kTimeoutMax = int64_t{100} * 365 * 86400 * 1'000'000;
      if (timeout_us < 0 || timeout_us > kTimeoutMax) {
        changed_.wait(mutex_, stepped);
      } else {
        changed_.wait_for(mutex_, std::chrono::microseconds(timeout_us), stepped);
      }
    }
    waiters_.fetch_sub(1);
  }

 private:
  static constexpr uint64_t kStep = 1 << 16;  // fewer threads signal at a time

  std::atomic<uint64_t> steps_{0};  // kStep for each signal, and 1 for each one in progress
  std::atomic<uint64_t> waiters_{0};
  Mutex mutex_;
  Condition changed_;
};

// Any thread.
class ThreadExecutor final : public Executor {
 public:
  ThreadExecutor(int high, int low) {
    CELLAR_ASSERT(high >= 1 && low >= 1);
    for (int i = 0; i < high; ++i) threads_.emplace_back([this] { serve(high_); });
    for (int i = 0; i < low; ++i) threads_.emplace_back([this] { serve(low_); });
  }

  ~ThreadExecutor() override {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
      wake_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  void submit(JobPriority priority, std::function<void()> job) override {
    CELLAR_ASSERT(job != nullptr);
    Queue& queue = queue_of(priority);
    const MutexLock lock(mutex_);
    ++unfinished_;
    queue.jobs.push_back(std::move(job));
    queue.filled.notify_one();
  }

  void submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) override {
    CELLAR_ASSERT(job != nullptr && delay_us >= 0);
    Queue& queue = queue_of(priority);
    const MutexLock lock(mutex_);
    queue.later.emplace(SteadyClock::now() + std::chrono::microseconds(std::min(delay_us, kDelayMaxUs)),
                        std::move(job));
    queue.filled.notify_one();  // the thread may wait for a later job
  }

  void checkpoint() override { CELLAR_ASSERT(mutexes_held() == 0); }

  std::unique_ptr<Event> make_event() override { return std::make_unique<ThreadEvent>(); }

 private:
  using SteadyClock = std::chrono::steady_clock;
  static constexpr int64_t kDelayMaxUs = int64_t{100} * 365 * 86400 * 1'000'000;

  struct Queue {
    std::deque<std::function<void()>> jobs;
    std::multimap<SteadyClock::time_point, std::function<void()>> later;  // by the time they are due
    std::condition_variable_any filled;
  };

  Queue& queue_of(JobPriority priority) { return priority == JobPriority::kHigh ? high_ : low_; }

  void wake_all() {
    high_.filled.notify_all();
    low_.filled.notify_all();
  }

  // Runs jobs. A running job may submit more jobs to either queue: threads leave when nothing is queued
  // or running.
  void serve(Queue& queue) {
    while (std::function<void()> job = next(queue)) {
      job();
      job = nullptr;  // destroys the job's captures before anyone is told that it is done
      CELLAR_ASSERT(mutexes_held() == 0);
      const MutexLock lock(mutex_);
      --unfinished_;
      if (stopping_ && unfinished_ == 0) wake_all();
    }
  }

  // Returns the queue's next job, or an empty function when the thread should end.
  std::function<void()> next(Queue& queue) {
    const MutexLock lock(mutex_);
    while (take_due(queue), queue.jobs.empty() && !(stopping_ && unfinished_ == 0)) {
      if (!queue.later.empty() && !stopping_) {
        // A copy: another thread may take the job, and the key with it, during the wait.
        const SteadyClock::time_point due = queue.later.begin()->first;
        queue.filled.wait_until(mutex_, due);
      } else {
        queue.filled.wait(mutex_);
      }
    }
    if (queue.jobs.empty()) return nullptr;
    std::function<void()> job = std::move(queue.jobs.front());
    queue.jobs.pop_front();
    // This thread may have waited for the timer. Another one, which waits without a limit, takes that over.
    if (!queue.jobs.empty() || !queue.later.empty()) queue.filled.notify_one();
    return job;
  }

  // Moves jobs whose time has come to the queue.
  void take_due(Queue& queue) CELLAR_REQUIRES(mutex_) {
    if (stopping_ || queue.later.empty()) return;
    const SteadyClock::time_point now = SteadyClock::now();
    while (!queue.later.empty() && queue.later.begin()->first <= now) {
      ++unfinished_;
      queue.jobs.push_back(std::move(queue.later.begin()->second));
      queue.later.erase(queue.later.begin());
    }
  }

  Mutex mutex_;
  Queue high_;
  Queue low_;
  uint64_t unfinished_ CELLAR_GUARDED_BY(mutex_) = 0;  // jobs queued or running
  bool stopping_ CELLAR_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Executor> make_thread_executor(int high, int low) {
  return std::make_unique<ThreadExecutor>(high, low);
}

}  // namespace cellar
