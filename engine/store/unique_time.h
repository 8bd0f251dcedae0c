// UniqueTime: times that are unique in the store and rise, also after it is opened again.
#pragma once

#include <cstdint>
#include <functional>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/status.h"

namespace cellar {

// Times are microseconds since the epoch. Before a time is given out, the manifest has recorded a later one:
// the reservation. After a crash the times begin after the reservation; after a clean close they begin after
// the last one that was given out. Any thread.
class UniqueTime {
 public:
  static constexpr int64_t kReservedUs = 60'000'000;  // how far one record reaches

  // Records durably that times up to `until_us` may be given out.
  using Reserve = std::function<Status(int64_t until_us)>;

  explicit UniqueTime(Clock& clock) : clock_(clock) {}

  // Begins after `recorded_us`, 0 if the store has never given out a time.
  void start(int64_t recorded_us);
  // Returns a time that is greater than all before it. Calls `reserve`, without a lock, when the reservation
  // ends.
  Result<int64_t> next(const Reserve& reserve);
  // Returns the last time that was given out, or what start() was given.
  int64_t last() const;

 private:
  Clock& clock_;
  mutable Mutex mutex_;
  int64_t last_us_ CELLAR_GUARDED_BY(mutex_) = 0;
  int64_t reserved_us_ CELLAR_GUARDED_BY(mutex_) = 0;
};

}  // namespace cellar
