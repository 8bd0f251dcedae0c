// CommitOrder: a ring of places, published by whichever writer finds the oldest of them settled.
#include "engine/write/commit_order.h"

#include "base/assert.h"
#include "base/spin.h"

namespace cellar {

uint64_t CommitOrder::enter(uint64_t sequence) {
  CELLAR_ASSERT(turn_.taken());
  CELLAR_DCHECK(sequence > mvcc_.read_point());
  const uint64_t place = entered_;
  if (place >= kPlaces) await(place - kPlaces);  // the writer that had this place of the ring
  CELLAR_ASSERT(at(place).state.load(std::memory_order_relaxed) == State::kUnsettled);
  at(place).sequence = sequence;
  ++entered_;
  return place;
}

void CommitOrder::mark(uint64_t place, bool inserted) {
  CELLAR_ASSERT(!is_settled(place));
  at(place).state.store(inserted ? State::kInserted : State::kFailed, std::memory_order_seq_cst);
  publish();
}

// One thread publishes at a time. A thread that finds another one at it may leave. The other one looks once
// more after it has stopped publishing, and finds what was settled before.
void CommitOrder::publish() {
  const auto oldest_is_settled = [&] {
    return at(settled_.load(std::memory_order_seq_cst)).state.load(std::memory_order_seq_cst) !=
           State::kUnsettled;
  };
  while (oldest_is_settled()) {
    if (publishing_.exchange(true, std::memory_order_seq_cst)) return;
    publish_settled();
    publishing_.store(false, std::memory_order_seq_cst);
  }
}

// A place is unsettled before it can be entered again, which is when settled_ has passed it.
void CommitOrder::publish_settled() {
  CELLAR_ASSERT(publishing_.load(std::memory_order_relaxed));
  const uint64_t first = settled_.load(std::memory_order_relaxed);
  uint64_t next = first;
  uint64_t visible = 0;
  for (; next < first + kPlaces; ++next) {
    Place& place = at(next);
    const State state = place.state.load(std::memory_order_acquire);
    if (state == State::kUnsettled) break;
    if (state == State::kInserted) visible = place.sequence;
    place.state.store(State::kUnsettled, std::memory_order_relaxed);
  }
  if (next == first) return;
  CELLAR_ASSERT(visible == 0 || visible > mvcc_.read_point());
  if (visible != 0) mvcc_.publish(visible);
  settled_.store(next, std::memory_order_seq_cst);
  waiting_.wake(next, SIZE_MAX);
}

void CommitOrder::await(uint64_t place) {
  CELLAR_ASSERT(mutexes_held() == 0);
  const auto settled = [&] { return is_settled(place); };
  while (!spin_until(settled)) waiting_.sleep_unless(place, settled);
}

void CommitOrder::await_call(uint64_t place, const std::atomic<bool>& called) {
  CELLAR_ASSERT(mutexes_held() == 0);
  const auto over = [&] { return called.load(std::memory_order_seq_cst) || is_settled(place); };
  while (!over()) waiting_.sleep_unless(place, over, WaitList::Callable::kYes);
}

void CommitOrder::drain() {
  CELLAR_ASSERT(turn_.taken());
  if (entered_ > 0) await(entered_ - 1);
}

Status CommitOrder::alone(const std::function<Status()>& work) noexcept {
  CELLAR_ASSERT(work != nullptr);
  const TurnHeld held(turn_);
  drain();
  CELLAR_ASSERT(settled_.load(std::memory_order_relaxed) == entered_);
  return work();
}

}  // namespace cellar
