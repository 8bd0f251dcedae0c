// HiddenReads: how many deleted cells the scans of a store examined in vain, and among which rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "platform/posix_process.h"

namespace cellar {

// Any thread. Scans add what they examined. When that is worth a compaction, the background work is called.
class HiddenReads {
 public:
  struct Tally {
    uint64_t cells = 0;     // delete markers, and puts that they hide
    std::string first_row;  // of the markers, about
    std::string last_row;
  };
  static constexpr uint64_t kCellsMin = 10'000;  // fewer are not worth a compaction

  // `call` is called by threads that read, without locks. It must not wait.
  explicit HiddenReads(std::function<void()> call) : call_(std::move(call)) {
    CELLAR_ASSERT(call_ != nullptr);
  }

  // A scan has ended.
  void add(uint64_t cells, std::string_view first_row, std::string_view last_row) {
    CELLAR_ASSERT(first_row <= last_row);
    if (generation_ != process_generation()) return;  // a forked child: the store belongs to its parent
    bool calls = mutexes_held() == 0;
    {
      const MutexLock lock(mutex_);
      if (tally_.cells == 0 || first_row < tally_.first_row) tally_.first_row = first_row;
      if (tally_.cells == 0 || last_row > tally_.last_row) tally_.last_row = last_row;
      tally_.cells += std::min(cells, UINT64_MAX - tally_.cells);
      calls = calls && tally_.cells >= call_at_;
      if (calls) call_at_ = UINT64_MAX;
    }
    if (calls) call_();
  }
  Tally tally() const {
    const MutexLock lock(mutex_);
    return tally_;
  }
  // Calls again when the tally has so many cells.
  void call_at(uint64_t cells) {
    const MutexLock lock(mutex_);
    call_at_ = std::max(cells, kCellsMin);
  }
  // A compaction for these scans begins: counts from 0.
  void forget() {
    const MutexLock lock(mutex_);
    tally_ = {};
    call_at_ = kCellsMin;
  }

 private:
  const uint64_t generation_ = process_generation();
  const std::function<void()> call_;
  mutable Mutex mutex_;
  Tally tally_ CELLAR_GUARDED_BY(mutex_);
  uint64_t call_at_ CELLAR_GUARDED_BY(mutex_) = kCellsMin;
};

}  // namespace cellar
