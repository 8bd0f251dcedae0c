// WorkInOrder: items that are worked off in order by a job of the executor, or by the pushing thread where no
// other thread is free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/status.h"

namespace cellar {

// One thread pushes. `work` runs on one thread at a time, for one item after the other. Nothing depends on a
// second thread: a thread that waits for items works them off itself, unless another thread does.
template <class Item>
class WorkInOrder {
 public:
  using Work = std::function<Status(Item&)>;
  struct Limits {
    size_t worth_a_job = 1;  // bytes that wait, before another thread is woken; not 0
    size_t per_job = 0;      // bytes worked off, before the executor's other jobs have their turn
  };

  // The executor is borrowed until the destructor returns.
  WorkInOrder(Executor& executor, const Limits& limits, Work work)
      : state_(std::make_shared<State>(executor, limits, std::move(work))) {}
  WorkInOrder(const WorkInOrder&) = delete;
  WorkInOrder& operator=(const WorkInOrder&) = delete;
  // As abandon().
  ~WorkInOrder() { static_cast<void>(abandon()); }

  // Takes an item, which counts as so many bytes. If `work` failed for an item before this one, fails with
  // that. Then this item and all that follow are dropped.
  Status push(Item item, size_t bytes) {
    {
      const MutexLock lock(state_->mutex);
      if (!state_->failure.ok()) return state_->failure;
      state_->queue_bytes += bytes;
      state_->queue.emplace_back(std::move(item), bytes);
    }
    state_->summon();
    return {};
  }
  // Returns the bytes of the items that no thread has begun.
  size_t bytes_left() const {
    const MutexLock lock(state_->mutex);
    return state_->queue_bytes;
  }
  // Returns whether no item waits and no thread works on one.
  bool is_idle() const {
    const MutexLock lock(state_->mutex);
    return state_->queue.empty() && !state_->working;
  }
  // Returns the failure of `work`, if there was one.
  Status failure() const {
    const MutexLock lock(state_->mutex);
    return state_->failure;
  }
  // Drops items that nobody has begun, and waits for the one that a thread has. Returns failure(). No Mutex
  // may be held, as for wait_until_left() and drain().
  Status abandon() {
    {
      const MutexLock lock(state_->mutex);
      state_->drop_queue();
    }
    return drain();
  }
  // Returns when at most `bytes` wait. If `bytes` is 0, it also waits until no thread works on an item.
  void wait_until_left(size_t bytes) { state_->wait_until_left(bytes); }
  // Returns when all items are worked off. Until the next push(), the caller may touch everything that `work`
  // touches.
  Status drain() {
    state_->wait_until_left(0);
    return failure();
  }

 private:
  struct State : std::enable_shared_from_this<State> {
    State(Executor& given_executor, const Limits& given_limits, Work given_work)
        : executor(given_executor),
          limits(given_limits),
          work(std::move(given_work)),
          changed(executor.make_event()) {
      CELLAR_ASSERT(limits.worth_a_job > 0);
    }

    // Hands the queue to the executor when it is worth it, unless somebody has it or will.
    void summon() {
      {
        const MutexLock lock(mutex);
        if (working || summoned || queue_bytes < limits.worth_a_job) return;
        summoned = true;
      }
      executor.submit(JobPriority::kHigh, [state = this->shared_from_this()] {
        {
          const MutexLock lock(state->mutex);
          CELLAR_ASSERT(state->summoned);
          state->summoned = false;
        }
        state->work_off(state->limits.per_job);
        state->summon();
      });
    }

    // Works until no item waits, or `limit` bytes are worked off. Returns at once if another thread is at it.
    void work_off(size_t limit) {
      {
        const MutexLock lock(mutex);
        if (working) return;
        working = true;
      }
      Item item;
      for (size_t left = limit; take(item, left);) {
        const Status status = work(item);
        if (status.ok()) continue;
        const MutexLock lock(mutex);
        failure = status;
        drop_queue();
      }
      changed->signal();
    }

    // The next item for the thread that works, which may take `left` bytes; false when it is to stop.
    bool take(Item& item, size_t& left) {
      bool enough = false;
      {
        const MutexLock lock(mutex);
        CELLAR_ASSERT(working);
        working = left > 0 && !queue.empty();
        if (!working) return false;
        item = std::move(queue.front().first);
        const size_t bytes = queue.front().second;
        queue.pop_front();
        CELLAR_ASSERT(queue_bytes >= bytes);
        queue_bytes -= bytes;
        CELLAR_ASSERT(!queue.empty() || queue_bytes == 0);
        left -= std::min(left, bytes);
        enough = waited_for && queue_bytes <= awaited_bytes;
        waited_for = waited_for && !enough;
      }
      if (enough) changed->signal();
      return true;
    }

    void wait_until_left(size_t bytes) {
      CELLAR_ASSERT(mutexes_held() == 0);
      while (true) {
        const uint64_t seen = changed->count();
        bool idle = false;
        {
          const MutexLock lock(mutex);
          if (bytes > 0 ? queue_bytes <= bytes : queue.empty() && !working) return;
          idle = !working;
          waited_for = true;
          awaited_bytes = bytes;
        }
        idle ? work_off(SIZE_MAX) : changed->wait(seen, -1);
      }
    }

    void drop_queue() CELLAR_REQUIRES(mutex) {
      queue.clear();
      queue_bytes = 0;
    }

    Executor& executor;
    const Limits limits;
    const Work work;
    const std::unique_ptr<Event> changed;
    Mutex mutex;
    std::deque<std::pair<Item, size_t>> queue CELLAR_GUARDED_BY(mutex);
    size_t queue_bytes CELLAR_GUARDED_BY(mutex) = 0;  // of the items in it
    Status failure CELLAR_GUARDED_BY(mutex);
    bool waited_for CELLAR_GUARDED_BY(mutex) = false;   // the pushing thread waits until
    size_t awaited_bytes CELLAR_GUARDED_BY(mutex) = 0;  // so many are left
    bool working CELLAR_GUARDED_BY(mutex) = false;      // a thread works on items
    bool summoned CELLAR_GUARDED_BY(mutex) = false;     // a job is submitted and not begun
  };

  const std::shared_ptr<State> state_;  // shared with jobs that are not begun when the work ends
};

}  // namespace cellar
