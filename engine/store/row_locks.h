// RowLocks: blind writes to a row may run side by side, a read-modify-write has its row alone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/environment.h"
#include "cellar/status.h"

namespace cellar {

// Striped: rows whose hashes meet share a lock. Any thread. A holder takes its locks in ascending order of
// stripes, so that holders cannot wait for each other in a circle. A thread holds at most one set at a time.
class RowLocks {
 public:
  explicit RowLocks(Executor& executor);

  enum class Mode : uint8_t { kShared, kExclusive };
  static constexpr size_t kStripes = 1024;
  static size_t stripe_of(std::string_view row);

  // Waits for the stripe: kBusy after `timeout_us` microseconds of the steady clock.
  Status lock(size_t stripe, Mode mode, int64_t timeout_us, Clock& clock);
  // Takes the lock if that needs no waiting. Returns true if it was taken.
  bool try_lock(size_t stripe, Mode mode) { return try_lock(stripes_[stripe], mode, false); }
  void unlock(size_t stripe, Mode mode);

 private:
  static constexpr uint32_t kExclusiveHeld = 1u << 31;
  static constexpr uint32_t kExclusiveWaits = 1u << 30;  // keeps new shared holders out until it had its turn
  bool try_lock(std::atomic<uint32_t>& state, Mode mode, bool waited);

  std::vector<std::atomic<uint32_t>> stripes_;
  std::unique_ptr<Event> released_;
  std::atomic<int> waiters_{0};
};

// RowLockSet: the locks of one write, released on destruction. One thread.
class RowLockSet {
 public:
  RowLockSet(RowLocks& locks, RowLocks::Mode mode) : locks_(locks), mode_(mode) {}
  RowLockSet(const RowLockSet&) = delete;
  RowLockSet& operator=(const RowLockSet&) = delete;
  ~RowLockSet();

  // Takes the locks of these rows, each stripe once. kBusy names the row.
  Status lock_row(std::string_view row, int64_t timeout_us, Clock& clock);
  Status lock_rows(const std::vector<std::string_view>& rows, int64_t timeout_us, Clock& clock);

 private:
  // One bit for each stripe, so that a batch of any order needs no sorting.
  using Stripes = std::array<uint64_t, RowLocks::kStripes / 64>;

  RowLocks& locks_;
  RowLocks::Mode mode_;
  size_t only_ = SIZE_MAX;  // held by lock_row()
  bool many_ = false;       // lock_rows() was called
  Stripes held_;            // filled by lock_rows() only
};

// GrowingRowLocks: the locks of a write that learns under them which further locks it needs. A further lock
// is taken if that needs no waiting. Otherwise all locks are released and taken again, with the new one, in
// ascending order. Released on destruction. One thread.
class GrowingRowLocks {
 public:
  explicit GrowingRowLocks(RowLocks& locks) : locks_(locks) {}
  GrowingRowLocks(const GrowingRowLocks&) = delete;
  GrowingRowLocks& operator=(const GrowingRowLocks&) = delete;
  ~GrowingRowLocks() { release(); }

  // lock_all() takes this row's lock, in the strongest mode that was wanted.
  void want(std::string_view row, RowLocks::Mode mode);
  // Takes what is wanted; nothing is held before. kBusy names the row.
  Status lock_all(int64_t timeout_us, Clock& clock);
  // Returns true if the lock is now held in the strongest mode requested. If false, call release() and
  // lock_all().
  bool extend(std::string_view row, RowLocks::Mode mode);
  void release();

 private:
  struct Stripe {
    std::string row;  // one of those that want it
    RowLocks::Mode wanted = RowLocks::Mode::kShared;
    std::optional<RowLocks::Mode> held = {};
  };
  RowLocks& locks_;
  std::map<size_t, Stripe> stripes_;
};

}  // namespace cellar
