// WritePace: how fast a store takes writes while its compactions are behind.
#pragma once

#include <atomic>
#include <cstdint>

namespace cellar {

// What compactions are behind by, from 0 (nothing) to 1 (writers have to wait): pacing begins at half of
// `files_slow`, so that the rate falls slowly and early, and not at once and late.
double compaction_debt(uint64_t files, uint64_t files_slow, uint64_t files_stop);

// Measures what compactions keep up with, and has writers wait for as long as their bytes take at a given
// rate. One a store. Any thread; spend() is the write leader's.
class WritePace {
 public:
  // Before the first compaction nothing is known but that disks do better than this.
  static constexpr double kUnknownBytesPerSecond = 16 << 20;
  static constexpr int64_t kWaitUsMin = 1000;     // shorter waits are saved up: no clock wakes so exactly
  static constexpr int64_t kBurstUs = 20'000;     // of unused time that may be used later
  static constexpr int64_t kWaitUsMax = 100'000;  // of one write

  // A flush has written so many bytes of memtables to a file.
  void flushed(uint64_t bytes);
  // A compaction has taken so long.
  void compacted(int64_t micros);
  // Bytes of memtables a second that compactions have lately kept up with.
  double sustainable() const;
  // Bytes a second at this debt: twice what is sustainable at none, less than half of it at 1, so that the
  // debt settles between.
  double rate(double debt) const { return sustainable() * (2 - 1.6 * debt); }

  // A memtable has grown by so many bytes, for which there are so many a second.
  void spend(uint64_t bytes, double bytes_per_second, int64_t now_us);
  // How long a writer waits before its next write: 0, or kWaitUsMin to kWaitUsMax.
  int64_t wait_us(int64_t now_us) const;

 private:
  static constexpr int64_t kMemoryUs = 30'000'000;  // of compaction time after which the past counts half

  std::atomic<uint64_t> flushed_bytes_{0};
  std::atomic<int64_t> compaction_us_{0};
  std::atomic<int64_t> free_at_us_{0};  // when the next write may begin
};

}  // namespace cellar
