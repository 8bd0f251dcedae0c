// Estimates: adds up what the files and memtables of views contain of a range of rows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cellar/estimate.h"
#include "engine/store/store_view.h"

namespace cellar {

// EstimateRequest: a range of rows, and the families in it that count.
struct EstimateRequest {
  std::string start = {};                  // first row; empty: the table's first
  std::string stop = {};                   // up to but not including this row; empty: to the end
  std::vector<std::string> families = {};  // none: all
};

using Views = std::vector<std::shared_ptr<const StoreView>>;

// Estimates the bytes, cells and rows that the views hold within the range. The views belong to families
// of one table, or of its regions. Reads indexes, memtables and few blocks. kInvalidArgument if the range
// ends before it starts.
Result<RangeEstimate> estimate_range(const EstimateRequest& request, const Views& views);

// Returns the rows at which to cut the range into `parts` of about the same size (1 to 100,000). Returns
// kInvalidArgument if `parts` is outside these bounds or the range ends before it starts.
Result<RangeSplits> split_range(const EstimateRequest& request, const Views& views, size_t parts);

// Returns at most `parts` - 1 rows, ascending, that cut the rows of some files into parts of about the same
// size. `runs` are sorted runs, or parts of runs. If `only_at` is not empty, returns only rows of it, which
// ascend. Reads indexes of runs that have few files.
Result<std::vector<std::string>> split_files(std::span<const std::vector<std::shared_ptr<StoreFile>>> runs,
                                             size_t parts, std::span<const std::string> only_at);

}  // namespace cellar
