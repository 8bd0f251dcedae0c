// RowLocks: one word a stripe; waiting goes through an Event.
#include "engine/store/row_locks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/spin.h"

namespace cellar {
namespace {

// Returns the lowest stripe of which this word of a set has a bit.
size_t stripe_at(size_t word, uint64_t bits) {
  CELLAR_DCHECK(bits != 0);
  return 64 * word + static_cast<size_t>(std::countr_zero(bits));
}

}  // namespace

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
  CELLAR_ASSERT(only_ == SIZE_MAX || !many_);
  if (only_ != SIZE_MAX) locks_.unlock(only_, mode_);
  if (!many_) return;
  for (size_t word = 0; word < held_.size(); ++word)
    for (uint64_t left = held_[word]; left != 0; left &= left - 1)
      locks_.unlock(stripe_at(word, left), mode_);
}

Status RowLockSet::lock_row(std::string_view row, int64_t timeout_us, Clock& clock) {
  CELLAR_ASSERT(only_ == SIZE_MAX && !many_);
  const size_t stripe = RowLocks::stripe_of(row);
  if (const Status status = locks_.lock(stripe, mode_, timeout_us, clock); !status.ok())
    return status.with_context("row " + escaped(row));
  only_ = stripe;
  return {};
}

Status RowLockSet::lock_rows(const std::vector<std::string_view>& rows, int64_t timeout_us, Clock& clock) {
  CELLAR_ASSERT(only_ == SIZE_MAX && !many_);
  Stripes wanted{};
  for (const std::string_view row : rows) {
    const size_t stripe = RowLocks::stripe_of(row);
    wanted[stripe / 64] |= uint64_t{1} << stripe % 64;
  }
  held_ = {};
  many_ = true;
  // In ascending order, or two sets could wait for each other in a circle.
  for (size_t word = 0; word < wanted.size(); ++word) {
    for (uint64_t left = wanted[word]; left != 0; left &= left - 1) {
      const size_t stripe = stripe_at(word, left);
      if (const Status status = locks_.lock(stripe, mode_, timeout_us, clock); !status.ok()) {
        const auto row = std::ranges::find(rows, stripe, RowLocks::stripe_of);
        CELLAR_ASSERT(row != rows.end());
        return status.with_context("row " + escaped(*row));
      }
      held_[word] |= left & (~left + 1);
    }
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
