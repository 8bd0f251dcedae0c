// ScanPace: limits how long a scan may search without returning anything.
#pragma once

#include <cstdint>

#include "base/assert.h"
#include "cellar/environment.h"

namespace cellar {

// The successive readers of one scan share it, so that regions without a result count together. One
// thread at a time. The clock is borrowed.
class ScanPace {
 public:
  ScanPace() = default;  // unlimited
  // A limit of 0 means no limit of that kind.
  ScanPace(uint64_t cells, uint32_t milliseconds, Clock& clock)
      : cells_max_(cells), micros_max_(int64_t{milliseconds} * 1000), clock_(&clock) {}

  bool is_limited() const { return cells_max_ != 0 || micros_max_ != 0; }

  // Starts the search, or continues it.
  void go() {
    if (micros_max_ != 0 && !going_) begun_us_ = clock_->steady_us();
    going_ = true;
  }
  // Ends the search: the scan has returned something.
  void rest() {
    going_ = row_begun_ = false;
    cells_ = 0;
  }
  void begin_row() {
    CELLAR_ASSERT(going_);  // a row is part of a search
    row_begun_ = true;
  }
  void count_cells(uint64_t cells) { cells_ += cells; }
  // Returns whether the search has lasted long enough. Returns false before the first row, so that each
  // new search makes progress.
  bool is_over() const {
    if (!row_begun_) return false;
    CELLAR_DCHECK(going_ && (micros_max_ == 0 || clock_ != nullptr));
    return (cells_max_ != 0 && cells_ >= cells_max_) ||
           (micros_max_ != 0 && clock_->steady_us() - begun_us_ >= micros_max_);
  }

 private:
  uint64_t cells_max_ = 0;
  int64_t micros_max_ = 0;
  Clock* clock_ = nullptr;
  bool going_ = false;
  bool row_begun_ = false;  // True if a row was begun in this search
  uint64_t cells_ = 0;      // cells examined in this search
  int64_t begun_us_ = 0;
};

}  // namespace cellar
