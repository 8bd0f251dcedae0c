// IdleWatch: one job is armed at a time. A job that a nearer one has replaced finds that, and does nothing.
#include "engine/jobs/idle_watch.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"

namespace cellar {

struct IdleWatch::State {
  State(const World& given_world, Event& given_changed, Look given_look)
      : world(given_world), changed(given_changed), look(std::move(given_look)) {}

  // Used only while `open`, or while a look runs.
  const World& world;
  Event& changed;
  const Look look;

  Mutex mutex;
  bool open CELLAR_GUARDED_BY(mutex) = true;
  bool looks CELLAR_GUARDED_BY(mutex) = false;
  bool noted CELLAR_GUARDED_BY(mutex) = false;          // while a look runs
  int64_t due_us CELLAR_GUARDED_BY(mutex) = INT64_MAX;  // of the armed job, by the steady clock
};

IdleWatch::IdleWatch(const World& world, Event& changed, Look look)
    : state_(std::make_shared<State>(world, changed, std::move(look))) {}

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

// A job that comes within the delay serves as well. So a store that is written to all the time wakes the
// watch once in kSettleUs.
void IdleWatch::arm(const std::shared_ptr<State>& state, int64_t delay_us) {
  CELLAR_ASSERT(delay_us >= 0 && mutexes_held() == 0);
  int64_t due_us = 0;
  {
    const MutexLock lock(state->mutex);
    if (!state->open) return;
    if (__builtin_add_overflow(state->world.clock.steady_us(), delay_us, &due_us)) return;
    if (state->due_us <= due_us) return;
    state->due_us = due_us;
  }
  Executor& executor = state->world.executor;
  const auto job = [state, due_us] { run(state, due_us); };
  if (delay_us == 0) return executor.submit(JobPriority::kLow, job);
  if (executor.submit_later(delay_us, job)) return;
  const MutexLock lock(state->mutex);  // no timer: looks come only when they are due at once
  if (state->due_us == due_us) state->due_us = INT64_MAX;
}

void IdleWatch::run(const std::shared_ptr<State>& state, int64_t due_us) {
  {
    const MutexLock lock(state->mutex);
    if (!state->open || state->looks || state->due_us != due_us) return;
    state->looks = true;
    state->noted = false;
    state->due_us = INT64_MAX;
  }
  const std::optional<int64_t> next_us = state->look();
  bool noted = false;
  {
    const MutexLock lock(state->mutex);
    CELLAR_ASSERT(state->looks);
    state->looks = false;
    noted = state->noted;
    state->changed.signal();  // under the mutex: who sees that no look runs may end the event
    if (!state->open) return;
  }
  CELLAR_ASSERT(!next_us || *next_us > 0);
  if (noted || next_us) arm(state, noted ? std::min(kSettleUs, next_us.value_or(kSettleUs)) : *next_us);
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
