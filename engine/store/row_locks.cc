// RowLocks: one word a stripe; waiting goes through an Event.
#include "engine/store/row_locks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/spin.h"

namespace cellar {

RowLocks::RowLocks(Executor& executor) : stripes_(kStripes), released_(executor.make_event()) {}

size_t RowLocks::stripe_of(std::string_view row) { return hash64(row) % kStripes; }

bool RowLocks::try_lock(std::atomic<uint32_t>& state, Mode mode, bool waited) {
  uint32_t seen = state.load(std::memory_order_relaxed);
  while (true) {
    if (mode == Mode::kShared) {
      if ((seen & (kExclusiveHeld | kExclusiveWaits)) != 0) return false;
      if (state.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return true;
    } else {
      if ((seen & ~kExclusiveWaits) != 0) {
        if (waited && (seen & kExclusiveWaits) == 0) {
          if (!state.compare_exchange_weak(seen, seen | kExclusiveWaits, std::memory_order_relaxed)) continue;
        }
        return false;
      }
      if (state.compare_exchange_weak(seen, kExclusiveHeld, std::memory_order_acquire)) return true;
    }
  }
}

Status RowLocks::lock(size_t stripe, Mode mode, int64_t timeout_us, Clock& clock) {
  CELLAR_ASSERT(stripe < kStripes && mutexes_held() == 0);
  std::atomic<uint32_t>& state = stripes_[stripe];
  // Most holders are done before this thread could have slept.
  if (spin_until([&] { return try_lock(state, mode, false); })) return {};
  const int64_t deadline_us =
      clock.steady_us() + timeout_us;  // asked for only here: an uncontended lock reads no clock
  waiters_.fetch_add(1);
  Status status;
  while (true) {
    const uint64_t seen = released_->count();
    if (try_lock(state, mode, true)) break;
    const int64_t left = deadline_us - clock.steady_us();
    if (left <= 0) {
      status = Status::busy(fmt::format("waited {} ms for the lock of the row", timeout_us / 1000))
                   .hinting("another write holds it; try again, or raise row_lock_wait_ms");
      if (mode == Mode::kExclusive) {  // let the others in; another exclusive waiter sets the mark again
        state.fetch_and(~kExclusiveWaits, std::memory_order_relaxed);
        released_->signal();
      }
      break;
    }
    released_->wait(seen, left);
  }
  const int waiters = waiters_.fetch_sub(1);
  CELLAR_ASSERT(waiters > 0);
  return status;
}

void RowLocks::unlock(size_t stripe, Mode mode) {
  CELLAR_ASSERT(stripe < kStripes);
  if (mode == Mode::kShared) {
    const uint32_t before = stripes_[stripe].fetch_sub(1, std::memory_order_seq_cst);
    CELLAR_ASSERT((before & ~kExclusiveWaits) > 0 && (before & kExclusiveHeld) == 0);
  } else {
    const uint32_t before = stripes_[stripe].fetch_and(~kExclusiveHeld, std::memory_order_seq_cst);
    CELLAR_ASSERT((before & ~kExclusiveWaits) == kExclusiveHeld);  // nobody else held it
  }
  // Sequentially consistent with the waiter's fetch_add: either it is counted here, or its second try sees
  // the lock free.
  if (waiters_.load(std::memory_order_seq_cst) != 0) released_->signal();
}

RowLockSet::~RowLockSet() {
  CELLAR_ASSERT(first_ == SIZE_MAX || more_.empty());
  if (first_ != SIZE_MAX) locks_.unlock(first_, mode_);
  for (const size_t stripe : more_) locks_.unlock(stripe, mode_);
}

Status RowLockSet::lock_row(std::string_view row, int64_t timeout_us, Clock& clock) {
  CELLAR_ASSERT(first_ == SIZE_MAX && more_.empty());
  const size_t stripe = RowLocks::stripe_of(row);
  if (const Status status = locks_.lock(stripe, mode_, timeout_us, clock); !status.ok())
    return status.with_context("row " + escaped(row));
  first_ = stripe;
  return {};
}

Status RowLockSet::lock_rows(const std::vector<std::string_view>& rows, int64_t timeout_us, Clock& clock) {
  CELLAR_ASSERT(first_ == SIZE_MAX && more_.empty());
  std::vector<std::pair<size_t, std::string_view>> stripes;
  stripes.reserve(rows.size());
  for (const std::string_view row : rows) stripes.emplace_back(RowLocks::stripe_of(row), row);
  std::ranges::sort(stripes);
  more_.reserve(std::min(stripes.size(), RowLocks::kStripes));
  for (const auto& [stripe, row] : stripes) {
    if (!more_.empty() && more_.back() == stripe) continue;
    if (const Status status = locks_.lock(stripe, mode_, timeout_us, clock); !status.ok())
      return status.with_context("row " + escaped(row));
    CELLAR_ASSERT(more_.empty() ||
                  more_.back() < stripe);  // in ascending order, or two sets could wait in a circle
    more_.push_back(stripe);
  }
  return {};
}

void GrowingRowLocks::want(std::string_view row, RowLocks::Mode mode) {
  const auto [at, added] = stripes_.try_emplace(RowLocks::stripe_of(row));
  CELLAR_ASSERT(!at->second.held);
  if (added) at->second.row = row;
  at->second.wanted = std::max(at->second.wanted, mode);
}

Status GrowingRowLocks::lock_all(int64_t timeout_us, Clock& clock) {
  for (auto& [stripe, state] : stripes_) {
    CELLAR_ASSERT(!state.held);
    if (const Status status = locks_.lock(stripe, state.wanted, timeout_us, clock); !status.ok())
      return status.with_context("row " + escaped(state.row));
    state.held = state.wanted;
  }
  return {};
}

bool GrowingRowLocks::extend(std::string_view row, RowLocks::Mode mode) {
  const auto [at, added] = stripes_.try_emplace(RowLocks::stripe_of(row));
  Stripe& state = at->second;
  if (added) state.row = row;
  state.wanted = std::max(state.wanted, mode);
  if (state.held) return *state.held == state.wanted;  // not made stronger in place: two might wait so
  if (!locks_.try_lock(at->first, state.wanted)) return false;
  CELLAR_ASSERT(!state.held);
  state.held = state.wanted;
  return true;
}

void GrowingRowLocks::release() {
  for (auto& [stripe, state] : stripes_) {
    if (state.held) locks_.unlock(stripe, *state.held);
    state.held.reset();
  }
}

}  // namespace cellar
