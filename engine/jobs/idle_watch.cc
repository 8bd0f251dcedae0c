// IdleWatch: one job is armed at a time. A job that a nearer one has replaced finds that, and does nothing.
#include "engine/jobs/idle_watch.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"

namespace cellar {

struct IdleWatch::State {
  State(Clock& given_clock, Executor& given_executor, Event& given_changed, Look given_look)
      : clock(given_clock), executor(given_executor), changed(given_changed), look(std::move(given_look)) {}

  // Used only while `open`, or while a look runs.
  Clock& clock;
  Executor& executor;
  Event& changed;
  const Look look;

  Mutex mutex;
  bool open CELLAR_GUARDED_BY(mutex) = true;
  bool looks CELLAR_GUARDED_BY(mutex) = false;            // until the next look is armed
  bool noted CELLAR_GUARDED_BY(mutex) = false;            // while a look runs
  bool hurried CELLAR_GUARDED_BY(mutex) = false;          // while a look runs
  int64_t due_us CELLAR_GUARDED_BY(mutex) = INT64_MAX;    // of the armed job, by the steady clock
  int64_t apart_us CELLAR_GUARDED_BY(mutex) = INT64_MIN;  // no hurried look begins before that
  bool timer CELLAR_GUARDED_BY(mutex) = true;             // False once the executor was seen to have none

  int64_t hurried_delay_us() const CELLAR_REQUIRES(mutex) {
    const int64_t now_us = clock.steady_us();
    return !timer || apart_us <= now_us ? 0 : std::min(kApartUs, apart_us - now_us);
  }
};

IdleWatch::IdleWatch(Clock& clock, Executor& executor, Event& changed, Look look)
    : state_(std::make_shared<State>(clock, executor, changed, std::move(look))) {}

IdleWatch::~IdleWatch() {
  const MutexLock lock(state_->mutex);
  CELLAR_ASSERT(!state_->looks);
  state_->open = false;
}

void IdleWatch::note() {
  {
    const MutexLock lock(state_->mutex);
    if (!state_->open) return;
    state_->noted = true;
    if (state_->looks) return;  // it is armed again when the look ends
  }
  arm(state_, kSettleUs);
}

void IdleWatch::hurry() {
  int64_t delay_us = 0;
  {
    const MutexLock lock(state_->mutex);
    if (!state_->open) return;
    if (state_->looks) {
      state_->hurried = true;
      return;
    }
    delay_us = state_->hurried_delay_us();
  }
  if (!arm(state_, delay_us)) arm(state_, 0);
}

// A job that comes within the delay serves as well. So a store that is written to all the time wakes the
// watch once in kSettleUs.
bool IdleWatch::arm(const std::shared_ptr<State>& state, int64_t delay_us) {
  CELLAR_ASSERT(delay_us >= 0 && mutexes_held() == 0);
  int64_t due_us = 0;
  {
    const MutexLock lock(state->mutex);
    if (!state->open || __builtin_add_overflow(state->clock.steady_us(), delay_us, &due_us)) return true;
    if (state->due_us <= due_us) return true;
    state->due_us = due_us;
  }
  const auto job = [state, due_us] { run(state, due_us); };
  if (delay_us == 0) return state->executor.submit(JobPriority::kLow, job), true;
  if (state->executor.submit_later(delay_us, job)) return true;
  const MutexLock lock(state->mutex);
  if (state->due_us == due_us) state->due_us = INT64_MAX;
  state->timer = false;
  return false;
}

void IdleWatch::run(const std::shared_ptr<State>& state, int64_t due_us) {
  {
    const MutexLock lock(state->mutex);
    if (!state->open || state->due_us != due_us) return;
    state->due_us = INT64_MAX;
    if (state->looks) {  // it looks again when this look ends
      state->hurried = true;
      return;
    }
    state->looks = true;
    state->noted = state->hurried = false;
    if (__builtin_add_overflow(state->clock.steady_us(), kApartUs, &state->apart_us))
      state->apart_us = INT64_MAX;
  }
  std::optional<int64_t> look_us = state->look();
  CELLAR_ASSERT(!look_us || *look_us > 0);
  while (const std::optional<int64_t> delay_us = next_delay_us(*state, look_us)) arm(state, *delay_us);
}

// Returns in how many microseconds the next look is to come. Returns nothing once that is armed: then the
// look is over, and the state may be used no more.
std::optional<int64_t> IdleWatch::next_delay_us(State& state, std::optional<int64_t>& look_us) {
  const MutexLock lock(state.mutex);
  CELLAR_ASSERT(state.looks);
  std::optional<int64_t> delay_us = std::exchange(look_us, std::nullopt);
  if (std::exchange(state.noted, false)) delay_us = std::min(kSettleUs, delay_us.value_or(kSettleUs));
  if (std::exchange(state.hurried, false))
    delay_us = std::min(state.hurried_delay_us(), delay_us.value_or(INT64_MAX));
  if (delay_us && state.open) return delay_us;
  state.looks = false;
  state.changed.signal();  // under the mutex: who sees that no look runs may end the event
  return std::nullopt;
}

void IdleWatch::stop() {
  CELLAR_ASSERT(mutexes_held() == 0);
  while (true) {
    const uint64_t seen = state_->changed.count();
    {
      const MutexLock lock(state_->mutex);
      state_->open = false;
      if (!state_->looks) return;
    }
    state_->changed.wait(seen, -1);
  }
}

}  // namespace cellar
