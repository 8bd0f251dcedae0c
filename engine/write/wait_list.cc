// WaitList: a list under a short lock; the sleeping itself is the events'.
#include "engine/write/wait_list.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cellar {

void WaitList::list(Sleeper& sleeper) {
  CELLAR_ASSERT(!sleeper.listed && sleeper.event == nullptr);
  const MutexLock lock(mutex_);
  if (spare_.empty()) {
    sleeper.event = executor_.make_event();
  } else {
    sleeper.event = std::move(spare_.back());
    spare_.pop_back();
  }
  sleeper.listed = true;
  list_.push_back(&sleeper);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
}

// The wait is over without a wake, or while one comes.
void WaitList::take_back(Sleeper& sleeper) {
  CELLAR_ASSERT(sleeper.event != nullptr);
  const MutexLock lock(mutex_);
  if (sleeper.listed) {
    const size_t erased = std::erase(list_, &sleeper);
    CELLAR_ASSERT(erased == 1);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }
  spare_.push_back(std::move(sleeper.event));
}

void WaitList::await_wake(Sleeper& sleeper) {
  CELLAR_ASSERT(mutexes_held() == 0);
  for (;;) {
    const uint64_t seen = sleeper.event->count();
    {
      const MutexLock lock(mutex_);
      if (!sleeper.listed) {
        spare_.push_back(std::move(sleeper.event));
        return;
      }
    }
    sleeper.event->wait(seen, -1);  // a late signal for an earlier sleeper only lets it look again
  }
}

// The sleeper may be gone as soon as it is not listed. Its event stays: the list keeps it for others.
template <class Wanted>
bool WaitList::wake_first(const Wanted& wanted) {
  Event* event = nullptr;
  {
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find_if(list_, [&](const Sleeper* each) { return wanted(*each); });
    if (found == list_.end()) return false;
    CELLAR_ASSERT((*found)->listed && (*found)->event != nullptr);
    event = (*found)->event.get();
    (*found)->listed = false;
    list_.erase(found);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }
  event->signal();
  return true;
}

void WaitList::wake_listed(uint64_t below, size_t at_most) {
  size_t woken = 0;
  while (woken < at_most && wake_first([&](const Sleeper& each) { return each.number < below; })) ++woken;
}

void WaitList::call(uint64_t number) {
  wake_first([&](const Sleeper& each) { return each.number == number && each.callable == Callable::kYes; });
}

}  // namespace cellar
