// WritePace: how fast a store takes writes while its compactions are behind.
#pragma once

#include <atomic>
#include <cstdint>

namespace cellar {

// Returns how far compactions are behind, from 0 (not at all) to 1 (writers have to wait). Pacing begins at
// half of `files_slow`, so that the rate falls early and slowly.
double compaction_debt(uint64_t files, uint64_t files_slow, uint64_t files_stop);

// Measures the rate that compactions keep up with, and tells writers how long to wait so that they keep a
// rate. One per store. Any thread; only the write leader calls spend().
class WritePace {
 public:
  // The rate that is assumed before the first compaction.
  static constexpr double kUnknownBytesPerSecond = 16 << 20;
  static constexpr int64_t kWaitUsMin = 1000;     // shorter waits are saved up: no clock wakes so exactly
  static constexpr int64_t kBurstUs = 20'000;     // of unused time that may be used later
  static constexpr int64_t kWaitUsMax = 100'000;  // of one write

  // Notes that a flush has written `bytes` of memtables to a file.
  void flushed(uint64_t bytes);
  // Notes that a compaction has taken so long.
  void compacted(int64_t micros);
  // Returns the bytes of memtables per second that compactions have lately kept up with.
  double sustainable() const;
  // Returns the bytes per second to allow at this debt: twice the sustainable rate at 0, less than half of it
  // at 1.
  double rate(double debt) const { return sustainable() * (2 - 1.6 * debt); }

  // Notes that a memtable has grown by `bytes`, which take their time at this rate.
  void spend(uint64_t bytes, double bytes_per_second, int64_t now_us);
  // Lets the next write begin at once.
  void forget() { free_at_us_.store(0, std::memory_order_relaxed); }
  // Returns how long a writer waits before its next write: 0, or kWaitUsMin to kWaitUsMax.
  int64_t wait_us(int64_t now_us) const;

 private:
  static constexpr int64_t kMemoryUs = 30'000'000;  // of compaction time after which the past counts half

  std::atomic<uint64_t> flushed_bytes_{0};
  std::atomic<int64_t> compaction_us_{0};
  std::atomic<int64_t> free_at_us_{0};  // when the next write may begin
};

}  // namespace cellar
