// HiddenReads: how many deleted cells the scans of a store examined in vain, and among which rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "platform/posix_process.h"

namespace cellar {

// Any thread. Scans add what they examined. When that is worth a compaction, the background work is called.
class HiddenReads {
 public:
  // Some rows, and what scans examined there.
  struct Tally {
    uint64_t cells = 0;     // delete markers, and puts that they hide
    std::string first_row;  // of the markers, about
    std::string last_row;
    uint64_t call_at = kCellsMin;  // so many cells

    bool meets(std::string_view first, std::string_view last) const {
      return first_row <= last && last_row >= first;
    }
  };
  static constexpr uint64_t kCellsMin = 10'000;  // fewer are not worth a compaction
  static constexpr size_t kTalliesMax = 8;

  // `call` is called by threads that read, without locks. It must not wait.
  explicit HiddenReads(std::function<void()> call) : call_(std::move(call)) {
    CELLAR_ASSERT(call_ != nullptr);
  }

  // A scan has ended.
  void add(uint64_t cells, std::string_view first_row, std::string_view last_row) {
    CELLAR_ASSERT(first_row <= last_row);
    if (generation_ != process_generation()) return;  // a forked child: the store belongs to its parent
    const bool may_call = mutexes_held() == 0;
    bool calls = false;
    {
      const MutexLock lock(mutex_);
      counted_ += std::min(cells, UINT64_MAX - counted_);
      Tally& tally = added({cells, std::string(first_row), std::string(last_row)});
      calls = may_call && tally.cells >= tally.call_at;
      if (calls) tally.call_at = UINT64_MAX;
    }
    if (calls) call_();
  }
  // Returns the counts, that of most cells first. No two of them share rows.
  std::vector<Tally> tallies() const {
    const MutexLock lock(mutex_);
    std::vector<Tally> result = tallies_;
    std::ranges::stable_sort(result, std::greater<>(), &Tally::cells);
    return result;
  }
  // The background work looks now. It is called again when a tally has twice as many cells.
  void looked() {
    const MutexLock lock(mutex_);
    for (Tally& tally : tallies_) tally.call_at = std::max(kCellsMin, 2 * std::min(tally.cells, kCountMax));
  }
  // A compaction for a tally begins: its rows count from 0.
  void forget(const Tally& of) {
    const MutexLock lock(mutex_);
    std::erase_if(tallies_, [&](const Tally& each) { return each.meets(of.first_row, of.last_row); });
  }
  // How much dearer such compactions are, because the last ones left the markers. A snapshot, for example,
  // may need them.
  uint64_t price() const { return uint64_t{1} << (2 * in_vain_.load(std::memory_order_relaxed)); }
  // A compaction for scans has ended.
  void note_compaction(bool markers_left) {
    const uint32_t before = in_vain_.load(std::memory_order_relaxed);
    in_vain_.store(markers_left ? 0 : std::min(before + 1, kInVainMax), std::memory_order_relaxed);
  }
  // Returns whether scans have examined so many cells since it last returned true. Then markers in memory are
  // worth a flush.
  bool pays_flush_of(uint64_t cells) {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(flushed_at_ <= counted_);
    if (counted_ - flushed_at_ < std::max(cells, kCellsMin)) return false;
    flushed_at_ = counted_;
    return true;
  }

 private:
  static constexpr uint64_t kCountMax = UINT64_MAX / 4;
  static constexpr uint32_t kInVainMax = 4;

  // Joins tallies that share rows. Beyond kTalliesMax, the two neighbours with fewest cells become one.
  Tally& added(Tally tally) CELLAR_REQUIRES(mutex_);

  const uint64_t generation_ = process_generation();
  const std::function<void()> call_;
  mutable Mutex mutex_;
  std::vector<Tally> tallies_ CELLAR_GUARDED_BY(mutex_);  // ascending by rows
  uint64_t counted_ CELLAR_GUARDED_BY(mutex_) = 0;        // by all scans
  uint64_t flushed_at_ CELLAR_GUARDED_BY(mutex_) = 0;     // of counted_
  std::atomic<uint32_t> in_vain_{0};                      // compactions in succession
};

}  // namespace cellar
