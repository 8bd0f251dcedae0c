// ReadSet: which rows of a table a transaction relies on, and whether they have changed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/read/store_reader.h"

namespace cellar {

// The rows that a scanner has passed so far. Nothing yet: passed is false.
struct PassedRange {
  std::string start;  // the bounds of the scan, in its direction
  std::string stop;
  bool start_inclusive = true;
  bool stop_inclusive = false;
  bool reversed = false;
  bool passed = false;

  // As a range that is read forward.
  RowRange forward() const;
};

// One thread at a time.
class ReadSet {
 public:
  void add_row(std::string_view row);
  // A range to be filled by a scanner while it goes on.
  std::shared_ptr<PassedRange> add_range();
  bool contains(std::string_view row) const;

  // A row of these, in what the view shows of its family, that was written after sequence `since`, by a write
  // that is applied; nothing when there is none. Sequences above it must not have been given up: a snapshot
  // of that read point is open. kCorruption, kIoError: a file cannot be read.
  Result<std::optional<std::string>> changed_row(const StoreView& view, uint64_t since) const;

 private:
  std::set<std::string, std::less<>> rows_;
  std::deque<std::shared_ptr<PassedRange>> ranges_;
};

}  // namespace cellar
