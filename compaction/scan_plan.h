// The plan of a compaction that frees scans from a long run of delete markers, whatever the policy is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cellar/compaction_policy.h"

namespace cellar {

// The deleted cells that scans examined in vain since the last such compaction.
struct ScanWaste {
  uint64_t cells = 0;
  std::string_view first_row;  // the rows of the markers
  std::string_view last_row;
  bool all_files = false;  // only a compaction of all files drops markers
  uint64_t price = 1;      // cells in vain for each cell of the work
};

struct ScanPlan {
  std::optional<CompactionPlan> plan = {};
  // The number of cells that scans must have examined in vain before the compaction is worth it. UINT64_MAX:
  // no compaction would drop a marker.
  uint64_t worth_at = UINT64_MAX;
};

// The inputs are the files with markers in these rows, and all older files that have rows among those of the
// inputs. Younger files stay. So nothing older is left, and the markers may go. The plan exists once scans
// have examined enough cells in vain. These are as many as the compaction reads and writes on average, or one
// for each 64 bytes of it. So compactions take at most as much work as scans have wasted. The output goes
// where a policy with levels would put it. Policies whose runs may not be merged have no plan.
ScanPlan plan_for_scans(const CompactionPolicy& policy, const StoreShape& shape, const ScanWaste& waste);

}  // namespace cellar
