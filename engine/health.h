// Health: the first failure that makes an engine read-only.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "cellar/status.h"

namespace cellar {

// Any thread. Once failed it stays so until the store is opened again: nothing is retried in silence.
class Health {
 public:
  // Ok, or kReadOnly with the first failure as its reason.
  Status check() const {
    if (!failed_.load(std::memory_order_acquire)) return {};
    MutexLock lock(mutex_);
    return Status::with_code(first_.code() == Code::kNoSpace ? Code::kNoSpace : Code::kReadOnly,
                             "writes are refused since an earlier failure: " + std::string(first_.message()))
        .at(first_.place())
        .hinting("close the store, mend the cause and open it again");
  }
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  // Remembers the first failure; true when this was it.
  bool fail(const Status& status) {
    MutexLock lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return false;
    first_ = status;
    failed_.store(true, std::memory_order_release);
    return true;
  }

 private:
  std::atomic<bool> failed_{false};
  mutable Mutex mutex_;
  Status first_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
