// DeleteTracker: decides which delete markers of the current row hide a timestamp. It holds only
// integers; the walk tells it when the row or the column changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/assert.h"
#include "cellar/cell.h"

namespace cellar {

// Hidden: the kind of marker that hides a put, if any. kByFamily and kByColumn also hide all older puts
// of the column.
enum class Hidden : uint8_t { kNo, kByFamily, kByColumn, kByFamilyVersion, kByVersion };

// Markers count by timestamp, independent of when they were written (HBase's ScanDeleteTracker). Cells
// must be added in the order of a store. One thread at a time.
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

  // Returns whether a marker may hide a cell of a column that is entered now.
  bool has_family_markers() const { return family_ != kOldestTimestamp || !family_versions_.empty(); }

  void add(const CellView& marker) {
    CELLAR_DCHECK(is_delete(marker.type()));
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
        break;  // only older puts come after it
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
  std::vector<int64_t> family_versions_;  // descending, as added: all are in the empty column
};

}  // namespace cellar
