// IdleWatch: a timer of the background work, for compactions that become due while nobody writes.
#pragma once

#include <cstdint>
#include <utility>

#include "base/mutex.h"
#include "engine/jobs/alarm.h"

namespace cellar {

// Any thread. A look begins what is due, and says when the next look is needed. The first look comes some
// time after the last note(). After that, the watch wakes up only when something is due.
class IdleWatch {
 public:
  using Look = Alarm::Ring;

  // Borrows all until stop() has returned. The event is signalled when a look ends. Two looks never run at
  // the same time.
  IdleWatch(Clock& clock, Executor& executor, Event& changed, Look look)
      : clock_(clock), look_(std::move(look)), alarm_(clock, executor, JobPriority::kLow, changed, [this] {
          note_look();
          return look_();
        }) {}

  // The files of a store have changed, or a compaction has ended. Cheap.
  void note() { alarm_.set(kSettleUs); }
  // Something may be due now. Looks begin a second apart at least.
  void hurry() { alarm_.set(hurried_delay_us()); }
  // Returns when no look runs, and none will. Called without locks.
  void stop() { alarm_.stop(); }

  static constexpr int64_t kSettleUs = 60'000'000;  // from a note() to the look at what it means
  static constexpr int64_t kApartUs = 1'000'000;    // from the beginning of a look to a hurried one

 private:
  void note_look();
  int64_t hurried_delay_us();

  Clock& clock_;
  const Look look_;
  Mutex mutex_;
  int64_t apart_us_ CELLAR_GUARDED_BY(mutex_) = INT64_MIN;  // no hurried look begins before that
  Alarm alarm_;
};

}  // namespace cellar
