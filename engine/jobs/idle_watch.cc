// IdleWatch: how far hurried looks are apart.
#include "engine/jobs/idle_watch.h"

#include <algorithm>

namespace cellar {

void IdleWatch::note_look() {
  const MutexLock lock(mutex_);
  if (__builtin_add_overflow(clock_.steady_us(), kApartUs, &apart_us_)) apart_us_ = INT64_MAX;
}

int64_t IdleWatch::hurried_delay_us() {
  const MutexLock lock(mutex_);
  const int64_t now_us = clock_.steady_us();
  return apart_us_ <= now_us ? 0 : std::min(kApartUs, apart_us_ - now_us);
}

}  // namespace cellar
