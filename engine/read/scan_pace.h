// ScanPace: how long a scan may look without having anything to hand over.
#pragma once

#include <cstdint>

#include "cellar/environment.h"

namespace cellar {

// Shared by the readers of one scan that follow each other, so that regions without an answer count together.
// One thread at a time. The clock is borrowed.
class ScanPace {
 public:
  ScanPace() = default;  // unlimited
  // 0: no limit of that kind.
  ScanPace(uint64_t cells, uint32_t milliseconds, Clock& clock)
      : cells_max_(cells), micros_max_(int64_t{milliseconds} * 1000), clock_(&clock) {}

  bool is_limited() const { return cells_max_ != 0 || micros_max_ != 0; }

  // The scan begins to look, or goes on to.
  void go() {
    if (micros_max_ != 0 && !going_) begun_us_ = clock_->steady_us();
    going_ = true;
  }
  // It has handed something over.
  void rest() {
    going_ = row_begun_ = false;
    cells_ = 0;
  }
  void begin_row() { row_begun_ = true; }
  void count_cells(uint64_t cells) { cells_ += cells; }
  // Whether it has looked for long enough. Never before the first row, so that each new beginning gets on.
  bool is_over() const {
    if (!row_begun_) return false;
    return (cells_max_ != 0 && cells_ >= cells_max_) ||
           (micros_max_ != 0 && clock_->steady_us() - begun_us_ >= micros_max_);
  }

 private:
  uint64_t cells_max_ = 0;
  int64_t micros_max_ = 0;
  Clock* clock_ = nullptr;
  bool going_ = false;
  bool row_begun_ = false;  // since then
  uint64_t cells_ = 0;      // examined since then
  int64_t begun_us_ = 0;
};

}  // namespace cellar
