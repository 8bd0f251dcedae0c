// ReadSet: the rows of a table that a transaction has read, and a check whether they have changed.
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

// PassedRange: the rows that a scanner has passed so far. `passed` is false as long as there are none.
struct PassedRange {
  std::string start;  // the bounds of the scan, in its direction
  std::string stop;
  bool start_inclusive = true;
  bool stop_inclusive = false;
  bool reversed = false;
  bool passed = false;

  // Returns the same rows in the form of a range that is read forward.
  RowRange forward() const;
};

// ReadSet: rows and ranges of one table. One thread at a time.
class ReadSet {
 public:
  void add_row(std::string_view row);
  // Adds a range, which a scanner extends as it advances.
  std::shared_ptr<PassedRange> add_range();
  bool contains(std::string_view row) const;

  // Returns a row of this set that an applied write has changed after sequence `since`, as far as the view
  // shows it. Returns nothing if no row has changed. A snapshot of read point `since` must be open, so that
  // no sequences above it have been zeroed. Returns kCorruption or kIoError if a file cannot be read.
  Result<std::optional<std::string>> changed_row(const StoreView& view, uint64_t since) const;

 private:
  template <class Source>
  Result<std::optional<std::string>> changed_in(Source source, uint64_t since) const;

  std::set<std::string, std::less<>> rows_;
  std::deque<std::shared_ptr<PassedRange>> ranges_;
};

}  // namespace cellar
