// ExpiryClock: the time up to which rewrites may erase expired cells.
#pragma once

#include <cstdint>

#include "base/assert.h"
#include "base/mutex.h"
#include "cellar/environment.h"

namespace cellar {

class World;

// A read may go by a wrong clock: what it hides shows again once the clock is right. A flush or compaction
// that erases by a wrong clock does harm for good. So a step of the wall clock ahead of the steady clock
// counts for erasing only after it has lasted kBelievedAfterUs. Time during which the store was closed counts
// at once if it is at most `guard_ms`, else after the same delay. A step back counts at once. Any thread.
class ExpiryClock {
 public:
  static constexpr int64_t kToleranceMs = 60'000;                         // between the two clocks
  static constexpr int64_t kBelievedAfterUs = int64_t{3600} * 1'000'000;  // of the steady clock

  struct Reading {
    int64_t ms = 0;        // cells that expired before this time may be erased
    int64_t ahead_ms = 0;  // how far the wall clock is ahead of that, when it is not believed; else 0
  };

  // The record of the clock that the store keeps from one opening to the next.
  struct Memory {
    int64_t wall_ms = 0;     // the last time that was believed; 0: none is remembered
    int64_t doubted_ms = 0;  // the wall clock when the doubt of it began; 0: it is believed

    bool operator==(const Memory&) const = default;
  };

  // A guard of 0 means that the wall clock alone counts.
  ExpiryClock(Clock& clock, int64_t guard_ms) : clock_(clock), guard_ms_(guard_ms) {
    CELLAR_ASSERT(guard_ms >= 0);
  }

  void start(const Memory& remembered);
  Reading read();
  // A doubt goes on from one opening to the next: short ones together make up kBelievedAfterUs.
  Memory memory();

 private:
  Reading read_locked() CELLAR_REQUIRES(mutex_);

  Clock& clock_;
  const int64_t guard_ms_;
  Mutex mutex_;
  int64_t wall_ms_ CELLAR_GUARDED_BY(mutex_) = 0;         // believed at steady_us_
  int64_t steady_us_ CELLAR_GUARDED_BY(mutex_) = 0;       // of the steady clock
  int64_t ahead_since_us_ CELLAR_GUARDED_BY(mutex_) = 0;  // of the steady clock, if the clock is doubted
  int64_t doubted_ms_ CELLAR_GUARDED_BY(mutex_) = 0;      // the wall clock then; 0: it is believed
};

// Returns the time up to which expired cells may be erased. Logs a warning while the clock is not believed.
int64_t erase_now_ms(ExpiryClock& expiry, const World& world);

}  // namespace cellar
