// Mvcc: sequence numbers, the read point, snapshots, and the time of reads and writes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "cellar/engine.h"
#include "cellar/environment.h"

namespace cellar {

// The read points that a rewrite must respect: those of open snapshots, ascending, and the newest visible
// one.
struct OpenReadPoints {
  std::vector<uint64_t> snapshots;
  uint64_t read_point = 0;
  bool any_snapshot = false;  // also one at the newest read point
};

// Any thread. Sequences are given out by one thread at a time, the leader of the write path; visibility
// follows their order.
class Mvcc {
 public:
  // How far ahead of the clock a transaction may stamp its cells and still order later writes after them.
  static constexpr int64_t kAheadMsMax = 1000;

  Mvcc(Clock& clock, Executor& executor) : clock_(clock), published_(executor.make_event()) {}

  // For recovery, before anybody reads or writes.
  void start_at(uint64_t last_sequence) {
    CELLAR_ASSERT(last_sequence + 1 >= next());
    set_next(last_sequence + 1);
    visible_.store(last_sequence, std::memory_order_release);
  }

  // The leader's: the next sequence. It becomes visible by publish().
  uint64_t take_sequence() { return take_sequence_above(0); }
  // The leader's: the next sequence, but one above `floor`. It becomes visible by publish().
  uint64_t take_sequence_above(uint64_t floor) {
    const uint64_t sequence = std::max(next(), floor + 1);
    CELLAR_DCHECK(sequence > visible_.load(std::memory_order_relaxed));
    set_next(sequence + 1);
    return sequence;
  }
  // The leader's: gives back the sequences taken since `sequence`, none of which was written anywhere.
  void give_back(uint64_t sequence) {
    CELLAR_ASSERT(sequence <= next() && sequence > visible_.load(std::memory_order_relaxed));
    set_next(sequence);
  }
  // The leader's: the newest sequence that was taken. Between it and the read point, the log may hold writes
  // whose sync failed.
  uint64_t last_taken() const { return next() - 1; }
  // For one thread at a time: makes all writes up to `sequence` visible. They are in the memtables.
  void publish(uint64_t sequence) {
    CELLAR_ASSERT(sequence >= visible_.load(std::memory_order_relaxed) && sequence < next());
    visible_.store(sequence, std::memory_order_release);
    wake_waiters();
  }

  // For a thread that waits for a later read point: it adds itself, looks for writes, and waits for
  // published() if it found none. Both sides change the same number: either the thread sees what was
  // published before, or publish() sees the thread.
  void add_waiter() { waiters_.fetch_add(1, std::memory_order_acq_rel); }
  void remove_waiter() {
    const uint32_t before = waiters_.fetch_sub(1, std::memory_order_acq_rel);
    CELLAR_ASSERT(before > 0);
  }
  Event& published() { return *published_; }
  // Wakes the threads that wait for a later read point.
  void wake_waiters() {
    if (waiters_.fetch_add(0, std::memory_order_acq_rel) != 0) published_->signal();
  }

  // A reader that refreshes replaces the views of many stores: between begin_round() and end_round(). A read
  // that takes several views asks for the round before and after. If that is odd, or another one, the views
  // may not belong together, and the read starts over.
  uint64_t round() const { return round_.load(std::memory_order_acquire); }
  void begin_round() {
    const uint64_t before = round_.fetch_add(1, std::memory_order_acq_rel);
    CELLAR_ASSERT(before % 2 == 0);
  }
  void end_round() {
    const uint64_t before = round_.fetch_add(1, std::memory_order_acq_rel);
    CELLAR_ASSERT(before % 2 == 1);
  }

  uint64_t read_point() const { return visible_.load(std::memory_order_acquire); }

  // The time of a read or write in milliseconds since the epoch: the clock's, also after the clock stepped
  // back. Nothing remembers it, so a wrong clock does harm only while it is wrong
  // (docs/decisions/time-is-the-clocks.md).
  int64_t now_ms() { return clock_.wall_ms(); }

  // The time of a write. A commit may have stamped cells a few milliseconds ahead of the clock
  // (order_after()). Until the clock has caught up, later writes get the time of that commit. A commit
  // further ahead than kAheadMsMax means that the clock stepped back. The clock alone counts then.
  int64_t write_ms() {
    const int64_t now = clock_.wall_ms();
    const int64_t ahead = ahead_ms_.load(std::memory_order_relaxed);
    return ahead > now && ahead - now <= kAheadMsMax ? ahead : now;
  }
  // Some timestamps of a commit are slightly ahead of the clock. Later writes get at least `ms`.
  void order_after(int64_t ms) {
    int64_t ahead = ahead_ms_.load(std::memory_order_relaxed);
    const int64_t now = clock_.wall_ms();
    while ((ms > ahead || ahead - now > kAheadMsMax) &&
           !ahead_ms_.compare_exchange_weak(ahead, ms, std::memory_order_relaxed)) {
    }
  }

  // Registers a snapshot at the current read point. It must be released.
  uint64_t open_snapshot() {
    MutexLock lock(mutex_);
    return *snapshots_.insert(read_point());
  }
  // Ends a snapshot. Returns true if it was the last one at this read point.
  bool close_snapshot(uint64_t sequence) {
    MutexLock lock(mutex_);
    const auto found = snapshots_.find(sequence);
    CELLAR_ASSERT(found != snapshots_.end());  // it was opened, and is closed once
    snapshots_.erase(found);
    return !snapshots_.contains(sequence);
  }
  // Calls work(read points of the open snapshots) while none can be opened or closed.
  template <class Work>
  void with_snapshots(const Work& work) const {
    MutexLock lock(mutex_);
    work(std::vector<uint64_t>(snapshots_.begin(), snapshots_.end()));
  }
  size_t snapshots() const {
    MutexLock lock(mutex_);
    return snapshots_.size();
  }

  // List and read point in one critical section with open_snapshot(): a later snapshot cannot lie below this
  // read point.
  OpenReadPoints open_read_points() const {
    MutexLock lock(mutex_);
    OpenReadPoints points;
    points.read_point = read_point();
    points.any_snapshot = !snapshots_.empty();
    CELLAR_ASSERT(snapshots_.empty() || *snapshots_.rbegin() <= points.read_point);
    for (const uint64_t each : snapshots_)
      if (each < points.read_point && (points.snapshots.empty() || points.snapshots.back() != each))
        points.snapshots.push_back(each);
    return points;
  }

 private:
  uint64_t next() const { return next_.load(std::memory_order_relaxed); }
  void set_next(uint64_t sequence) { next_.store(sequence, std::memory_order_relaxed); }

  Clock& clock_;
  std::atomic<uint64_t> round_{0};
  const std::unique_ptr<Event> published_;
  std::atomic<int64_t> ahead_ms_{INT64_MIN / 2};
  mutable Mutex mutex_;
  std::multiset<uint64_t> snapshots_ CELLAR_GUARDED_BY(mutex_);
  // Each write changes these, in two steps of two threads. All members above are mostly read.
  alignas(64) std::atomic<uint64_t> next_{1};  // stored by the leader only
  alignas(64) std::atomic<uint64_t> visible_{0};
  std::atomic<uint32_t> waiters_{0};
};

}  // namespace cellar
