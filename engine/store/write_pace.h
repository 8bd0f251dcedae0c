// WritePace: how fast a store takes writes while it waits for compactions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace cellar {

// Returns the debt of compactions by the number of files, from 0 (none) to 1 (writers have to wait). Pacing
// begins at half of `files_slow`, so that the rate falls early and slowly.
double compaction_debt(uint64_t files, uint64_t files_slow, uint64_t files_stop);

// Returns the debt of compactions by bytes, from 0 to 1. A compaction of `inputs` bytes runs. The store has
// grown by `newer` bytes since it began. A long compaction keeps its inputs on disk until it ends, and the
// newer bytes are still to be compacted. Four memtables of `flush` bytes are always allowed.
double backlog_debt(uint64_t newer, uint64_t inputs, uint64_t flush);

// Returns the debt by the policy's account, from 0 to 2. `debt` of the store's `bytes` lie where compactions
// do not leave them. Two memtables of `flush` bytes are always allowed. The debt is 1 near 0.15 of the
// other bytes, 2 near twice as much. Random overwrites of 3 GB then keep the store below 1.9 times the live
// data. With 0.2 it reached 2.02 times.
double policy_debt(uint64_t debt, uint64_t bytes, uint64_t flush);

// Measures the rates that compactions and flushes keep up with, and tells writers how long to wait so that
// they keep a rate. One per store. Any thread; only the write leader calls spend().
class WritePace {
 public:
  // The rate that is assumed before the first compaction.
  static constexpr double kUnknownBytesPerSecond = 16 << 20;
  static constexpr double kLeastBytesPerSecond = 1 << 20;
  static constexpr int64_t kWaitUsMin = 1000;     // shorter waits are saved up: no clock wakes so exactly
  static constexpr int64_t kBurstUs = 20'000;     // of unused time that may be used later
  static constexpr int64_t kWaitUsMax = 100'000;  // of one write

  // Notes that a flush has written `bytes` of memtables to a file, and how long it took.
  void flushed(uint64_t bytes, int64_t micros);
  // Notes that the debt by the policy's account has grown by so many bytes. Compactions have not kept up with
  // these. Negative: it has become less.
  void debt_grew(int64_t bytes);
  // Notes that a compaction has taken so long.
  void compacted(int64_t micros);
  // Returns the bytes of memtables per second that compactions have lately kept up with.
  double sustainable() const;
  // Returns the bytes per second to allow at this debt: twice the sustainable rate at 0, 0.4 times at 1, 0.02
  // times at 2. Beyond 1 the sustainable rate is out of date: compactions have become slower.
  double rate(double debt) const {
    CELLAR_ASSERT(debt >= 0 && debt <= 2);
    const double times = debt <= 1 ? 2 - 1.6 * debt : 0.4 - 0.38 * (debt - 1);
    return std::max(kLeastBytesPerSecond / 4, sustainable() * times);
  }

  // Returns the bytes per second to allow when only one more memtable may wait for its flush. It is a little
  // more than the rate of the last flushes while the active memtable is empty, a fifth of it when it is full.
  // So no write waits for a whole flush.
  double flush_rate(double filled) const;

  // Notes that a memtable has grown by `bytes`, which take their time at this rate.
  void spend(uint64_t bytes, double bytes_per_second, int64_t now_us);
  // Lets the next write begin at once.
  void forget() { free_at_us_.store(0, std::memory_order_relaxed); }
  // Returns how long a writer waits before its next write: 0, or kWaitUsMin to kWaitUsMax.
  int64_t wait_us(int64_t now_us) const;

 private:
  static constexpr int64_t kMemoryUs = 60'000'000;  // after so much compaction time the past counts half

  std::atomic<int64_t> flushed_bytes_{0};  // without what became debt
  std::atomic<int64_t> compaction_us_{0};
  std::atomic<uint64_t> flush_bytes_{0};  // bytes of memtables that the last flushes wrote
  std::atomic<int64_t> flush_us_{0};      // microseconds that the last flushes took
  std::atomic<int64_t> free_at_us_{0};    // when the next write may begin
};

}  // namespace cellar
