// Estimates: adds up what the files and memtables of views hold of a range of rows.
#pragma once

#include <memory>
#include <vector>

#include "cellar/estimate.h"
#include "engine/store/store_view.h"

namespace cellar {

using Views = std::vector<std::shared_ptr<const StoreView>>;

// What these views, of families of one table or of its regions, hold of the range. Reads indexes, memory, and
// few blocks. kInvalidArgument when the range is upside down.
Result<RangeEstimate> estimate_range(const EstimateRequest& request, const Views& views);

// Where to cut what they hold of the range into `parts` of the same size.
Result<RangeSplits> split_range(const EstimateRequest& request, const Views& views, size_t parts);

}  // namespace cellar
