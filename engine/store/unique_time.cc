// UniqueTime: the clock's time, or one more than the last.
#include "engine/store/unique_time.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {

void UniqueTime::start(int64_t recorded_us) {
  MutexLock lock(mutex_);
  CELLAR_ASSERT(last_us_ == 0 && reserved_us_ == 0);  // no time was given before the store was open
  last_us_ = recorded_us;
  reserved_us_ = recorded_us;
}

Result<int64_t> UniqueTime::next(const Reserve& reserve) {
  constexpr int64_t kMax = INT64_MAX - kReservedUs;
  for (;;) {
    int64_t wanted = 0;
    {
      const int64_t now_us = std::clamp<int64_t>(clock_.wall_ms(), 0, kMax / 1000) * 1000;
      MutexLock lock(mutex_);
      CELLAR_ASSERT(last_us_ <= reserved_us_);  // a time is recorded before it is given
      wanted = std::max(now_us, last_us_ + 1);
      if (wanted <= reserved_us_) return last_us_ = wanted;
    }
    // Several threads may come here together: each records, and the greatest record counts.
    if (wanted > kMax) return Status::limit("no unique times are left before the end of time");
    const int64_t until_us = wanted + kReservedUs;
    CELLAR_TRY(reserve(until_us));
    MutexLock lock(mutex_);
    reserved_us_ = std::max(reserved_us_, until_us);
  }
}

int64_t UniqueTime::last() const {
  MutexLock lock(mutex_);
  return last_us_;
}

}  // namespace cellar
