// StatementTurn: one statement at a time, however long it works in the engine.
#pragma once

#include <atomic>

#include "base/mutex.h"

namespace cellar::hbase::serve {

// A Mutex is held for moments only, and never during a write. A turn may be held during writes. Any thread.
class CELLAR_CAPABILITY("turn") StatementTurn {
 public:
  void take() CELLAR_ACQUIRE() {
    while (taken_.test_and_set(std::memory_order_acquire)) taken_.wait(true, std::memory_order_relaxed);
  }
  void give() CELLAR_RELEASE() {
    taken_.clear(std::memory_order_release);
    taken_.notify_one();
  }

 private:
  std::atomic_flag taken_ = {};
};

// Holds the turn as long as it lives.
class CELLAR_SCOPED_CAPABILITY StatementLock {
 public:
  explicit StatementLock(StatementTurn& turn) CELLAR_ACQUIRE(turn) : turn_(turn) { turn_.take(); }
  ~StatementLock() CELLAR_RELEASE() { turn_.give(); }
  StatementLock(const StatementLock&) = delete;
  StatementLock& operator=(const StatementLock&) = delete;

 private:
  StatementTurn& turn_;
};

}  // namespace cellar::hbase::serve
