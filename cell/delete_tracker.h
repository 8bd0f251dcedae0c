// DeleteTracker: which deletes of this row hide a timestamp. Integers only: the walk tells when row and
// column change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "cellar/cell.h"

namespace cellar {

// What hides a put, if anything. Under the first two, all older puts of the column are hidden too.
enum class Hidden : uint8_t { kNo, kByFamily, kByColumn, kByFamilyVersion, kByVersion };

// Markers count by timestamp, whenever they were written (HBase's ScanDeleteTracker). Cells must be fed in
// the order of a store. One thread at a time.
class DeleteTracker {
 public:
  void enter_row() {
    family_ = kOldestTimestamp;
    if (!family_versions_.empty()) family_versions_.clear();
    enter_column();
  }
  void enter_column() {
    column_ = kOldestTimestamp;
    version_ = kOldestTimestamp;
  }

  void add(const CellView& marker) {
    switch (marker.type()) {
      case CellType::kDeleteFamily:
        family_ = std::max(family_, marker.timestamp);
        break;
      case CellType::kDeleteFamilyVersion:
        family_versions_.push_back(marker.timestamp);
        break;
      case CellType::kDeleteColumn:
        column_ = std::max(column_, marker.timestamp);
        break;
      case CellType::kDelete:
        version_ = marker.timestamp;
        break;  // older puts only come after it
      default:
        break;
    }
  }

  Hidden test(int64_t timestamp) const {
    if (timestamp <= family_ && family_ != kOldestTimestamp) return Hidden::kByFamily;
    if (timestamp <= column_ && column_ != kOldestTimestamp) return Hidden::kByColumn;
    if (timestamp == version_) return Hidden::kByVersion;
    if (!family_versions_.empty() &&
        std::ranges::binary_search(family_versions_, timestamp, std::ranges::greater()))
      return Hidden::kByFamilyVersion;
    return Hidden::kNo;
  }

 private:
  int64_t family_ = kOldestTimestamp;     // newest DeleteFamily
  int64_t column_ = kOldestTimestamp;     // newest DeleteColumn of this column
  int64_t version_ = kOldestTimestamp;    // last Delete of this column
  std::vector<int64_t> family_versions_;  // descending, as they are met: all in the empty column
};

}  // namespace cellar
