// Alarm: one job is armed at a time. A job that an earlier one has replaced finds that, and does nothing.
#include "engine/jobs/alarm.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"

namespace cellar {

struct Alarm::State {
  State(Clock& given_clock, Executor& given_executor, JobPriority given_priority, Event& given_ended,
        Ring given_ring)
      : clock(given_clock),
        executor(given_executor),
        priority(given_priority),
        ended(given_ended),
        ring(std::move(given_ring)) {}

  // Used only while `open`, or while a call runs.
  Clock& clock;
  Executor& executor;
  const JobPriority priority;
  Event& ended;
  const Ring ring;

  Mutex mutex;
  bool open CELLAR_GUARDED_BY(mutex) = true;
  bool rings CELLAR_GUARDED_BY(mutex) = false;            // until the next call is armed
  int64_t due_us CELLAR_GUARDED_BY(mutex) = INT64_MAX;    // of the armed job, by the steady clock
  int64_t asked_us CELLAR_GUARDED_BY(mutex) = INT64_MAX;  // the earliest call asked for during this one

  // The time of the steady clock after `delay_us`. At INT64_MAX nothing is ever due.
  int64_t due_in(int64_t delay_us) const {
    int64_t due = 0;
    return __builtin_add_overflow(clock.steady_us(), delay_us, &due) ? INT64_MAX : due;
  }
};

Alarm::Alarm(Clock& clock, Executor& executor, JobPriority priority, Event& ended, Ring ring)
    : state_(std::make_shared<State>(clock, executor, priority, ended, std::move(ring))) {}

Alarm::~Alarm() {
  const MutexLock lock(state_->mutex);
  CELLAR_ASSERT(!state_->rings);
  state_->open = false;
}

void Alarm::set(int64_t delay_us) {
  CELLAR_ASSERT(delay_us >= 0 && mutexes_held() == 0);
  int64_t due_us = 0;
  {
    const MutexLock lock(state_->mutex);
    if (!state_->open) return;
    due_us = state_->due_in(delay_us);
    if (state_->rings) {
      state_->asked_us = std::min(state_->asked_us, due_us);
      return;
    }
  }
  arm(state_, due_us);
}

void Alarm::arm(const std::shared_ptr<State>& state, int64_t due_us) {
  int64_t delay_us = 0;
  {
    const MutexLock lock(state->mutex);
    if (!state->open || state->due_us <= due_us) return;
    state->due_us = due_us;
    delay_us = due_us - state->clock.steady_us();
  }
  const auto job = [state, due_us] { run(state, due_us); };
  if (delay_us <= 0) return state->executor.submit(state->priority, job);
  state->executor.submit_later(state->priority, delay_us, job);
}

void Alarm::run(const std::shared_ptr<State>& state, int64_t due_us) {
  {
    const MutexLock lock(state->mutex);
    if (!state->open || state->due_us != due_us) return;
    state->due_us = INT64_MAX;
    if (state->rings) {  // armed while the running call began
      state->asked_us = std::min(state->asked_us, due_us);
      return;
    }
    state->rings = true;
  }
  std::optional<int64_t> delay_us = state->ring();
  CELLAR_ASSERT(!delay_us || *delay_us > 0);
  while (const std::optional<int64_t> next_us = next_due_us(*state, std::exchange(delay_us, std::nullopt)))
    arm(state, *next_us);
}

// Returns when the next call is due, unless that is armed. Then the call is over, and nobody may use the
// state any more.
std::optional<int64_t> Alarm::next_due_us(State& state, std::optional<int64_t> delay_us) {
  const MutexLock lock(state.mutex);
  CELLAR_ASSERT(state.rings);
  int64_t due_us = std::exchange(state.asked_us, INT64_MAX);
  if (delay_us) due_us = std::min(due_us, state.due_in(*delay_us));
  if (due_us != INT64_MAX && state.open) return due_us;
  state.rings = false;
  state.ended.signal();  // under the mutex: who sees that no call runs may end the event
  return std::nullopt;
}

void Alarm::stop() {
  CELLAR_ASSERT(mutexes_held() == 0);
  while (true) {
    const uint64_t seen = state_->ended.count();
    {
      const MutexLock lock(state_->mutex);
      state_->open = false;
      if (!state_->rings) return;
    }
    state_->ended.wait(seen, -1);
  }
}

}  // namespace cellar
