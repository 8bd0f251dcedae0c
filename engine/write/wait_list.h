// WaitList: threads that sleep until somebody wakes them, each on an event of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"

namespace cellar {

// Any thread. A wake reaches only the threads it is for. An event shared by all sleepers would wake each of
// them to find out that another one's wait is over. Events are kept for later sleepers.
class WaitList {
 public:
  explicit WaitList(Executor& executor) : executor_(executor) {}

  // kYes: call() wakes the sleeper, too.
  enum class Callable : bool { kNo, kYes };

  // Sleeps until wake() is called with a number above `number`, unless ready() holds once this thread is
  // listed. No wake is lost: a thread makes ready() true, sequentially consistently, and calls wake() or
  // call() afterwards. It finds the sleeper, or is seen by it.
  template <class Ready>
  void sleep_unless(uint64_t number, const Ready& ready, Callable callable = Callable::kNo) {
    Sleeper sleeper{number, callable};
    list(sleeper);
    if (ready()) {
      take_back(sleeper);
    } else {
      await_wake(sleeper);
    }
  }

  // Wakes sleepers with numbers below `below`, those that came first, and at most so many.
  void wake(uint64_t below, size_t at_most) {
    if (sleepers_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake_listed(below, at_most);
  }

  // Wakes the callable sleeper with this number, if there is one. At most one thread may sleep so for a
  // number; others that sleep for the same number sleep on.
  void call(uint64_t number);

 private:
  struct Sleeper {
    uint64_t number;
    Callable callable;
    std::unique_ptr<Event> event = nullptr;
    bool listed = false;
  };
  void list(Sleeper& sleeper);
  void take_back(Sleeper& sleeper);
  void await_wake(Sleeper& sleeper);
  void wake_listed(uint64_t below, size_t at_most);
  template <class Wanted>
  bool wake_first(const Wanted& wanted);

  Executor& executor_;
  std::atomic<uint32_t> sleepers_{0};  // in the list
  Mutex mutex_;
  std::vector<Sleeper*> list_ CELLAR_GUARDED_BY(mutex_);                 // the first to come first
  std::vector<std::unique_ptr<Event>> spare_ CELLAR_GUARDED_BY(mutex_);  // of earlier sleepers
};

}  // namespace cellar
