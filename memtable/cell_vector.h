// CellVector: cells in the order of their insertion, which reads sort; for loads that are read late.
//
// An insert appends a pointer. A read first catches up: it sorts the cells that came since the last read into
// a run (sorted_run.h). It merges runs until each is at least four times as large as the next one. So there
// are at most 17 runs. A search looks into each of them, and a walk merges them. A flush that follows a load
// without reads sorts once, and walks over an array.
//
// The cost of reads. After n cells were read, a cell has been sorted once and merged less than 4 log4(n)
// times, however many reads there were. But a single read sorts and merges all that came since the last one,
// which is every cell in the worst case. Only one read does so at a time; others wait for it. An insert waits
// for nobody.
//
// Memory. bytes() counts the pointers, and an entry of a run for each cell from the beginning: every flush
// makes one. While a read merges runs, their entries exist twice. A Place keeps its runs until its next
// search, also if others have merged them.
//
// Memory order. The inserter stores a pointer, and then the number of cells with release. A read loads the
// number with acquire, so it sees the cells. The runs change under a mutex.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/arena.h"
#include "base/mutex.h"
#include "cellar/cell.h"
#include "memtable/cell_record.h"
#include "memtable/sorted_run.h"

namespace cellar {

// One thread inserts at a time, ordered by the caller; any thread reads. Records are borrowed and must
// outlive the vector.
class CellVector {
 private:
  // Runs: all cells up to a number; the oldest run, which is the largest, first. Immutable.
  struct Runs {
    uint64_t cells = 0;
    std::vector<std::shared_ptr<const SortedRun>> runs;
  };
  static constexpr uint32_t kRunsMax = 17;  // of 2^32 cells

 public:
  CellVector();
  CellVector(const CellVector&) = delete;
  CellVector& operator=(const CellVector&) = delete;

  // Inserts `record`, a copy of `cell`, before all cells equal to it. `near` is null.
  void insert(const CellView& cell, const CellRecord* record, const void* near = nullptr);

  // Returns the first record at or after `target`, or null. Any thread. Sets `near` to null.
  const CellRecord* find(const CellView& target, const void*& near) const;

  // Returns the bytes of the pointers and of the entries that reads make for all cells. Any thread.
  uint64_t bytes() const {
    return list_bytes_.load(std::memory_order_relaxed) +
           cells_.load(std::memory_order_relaxed) * sizeof(SortedRun::Entry);
  }

  // Place: the position of a reader. One thread at a time; valid as long as the vector. It meets every cell
  // whose insert() returned before its last seek, and no later one.
  class Place {
   public:
    // seek(), seek_before() and next() return the record moved to, or null at the end. After null the Place
    // has no position until the next seek.
    const CellRecord* seek(const CellVector& vector, const CellView& target);  // first at or after `target`
    const CellRecord* seek_before(const CellVector& vector, const CellView& target);  // last before `target`
    const CellRecord* next();
    // Returns the current record, or null if the Place has no position.
    const CellRecord* record() const { return count_ == 0 ? nullptr : heads_[0].at->record; }

   private:
    // Head: the next entry of a run that is not at its end.
    struct Head {
      const SortedRun::Entry* at;
      const SortedRun::Entry* end;
      uint32_t age;  // greater: inserted later
    };
    static bool is_before(const Head& a, const Head& b);
    void add(const SortedRun& run, const SortedRun::Entry* at, uint32_t age);

    std::shared_ptr<const Runs> runs_;
    uint32_t count_ = 0;
    std::array<Head, kRunsMax> heads_;  // `count_` of them, in the order of their cells
  };

  // Returns the number of runs, for tests. Any thread.
  size_t count_runs() const;

 private:
  struct Chunk;

  std::shared_ptr<const Runs> catch_up(std::shared_ptr<const Runs> known) const;
  std::shared_ptr<const SortedRun> sort_new(uint64_t cells) const CELLAR_REQUIRES(mutex_);
  void open_chunk();

  Arena first_chunks_{4 << 10};
  Arena chunks_{1 << 20};
  std::atomic<uint64_t> list_bytes_{0};
  std::atomic<uint64_t> cells_{0};
  Chunk* last_ = nullptr;  // inserter only
  uint32_t used_ = 0;      // of the last chunk; inserter only
  // Where the list begins. Stored before the first cell is counted.
  Chunk* first_ = nullptr;

  mutable Mutex mutex_;
  mutable std::shared_ptr<const Runs> runs_ CELLAR_GUARDED_BY(mutex_);
  // The first cell that is in no run.
  mutable const Chunk* next_chunk_ CELLAR_GUARDED_BY(mutex_) = nullptr;
  mutable uint32_t next_index_ CELLAR_GUARDED_BY(mutex_) = 0;
};

}  // namespace cellar
