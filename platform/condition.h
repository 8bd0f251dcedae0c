// Condition: sleep until another thread changes something, with a Mutex.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/mutex.h"

namespace cellar {

// Any thread. std::condition_variable_any has a lock of its own, which it holds while it wakes a thread. The
// scheduler often gives the processor to the woken thread at once, and that thread sleeps again for the lock.
class Condition {
 public:
  // Returns when ready() holds. `mutex` is held, except while the thread sleeps.
  template <class Ready>
  void wait(Mutex& mutex, const Ready& ready) CELLAR_REQUIRES(mutex) {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    changed_.wait(held, ready);
    held.release();
  }
  // The same, for that time at most.
  template <class Ready>
  void wait_for(Mutex& mutex, std::chrono::microseconds at_most, const Ready& ready) CELLAR_REQUIRES(mutex) {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    changed_.wait_for(held, at_most, ready);
    held.release();
  }
  // Wakes all that wait. Call it without the mutex.
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace cellar
