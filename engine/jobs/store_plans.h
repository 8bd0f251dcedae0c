// Which compaction a store needs because of the time, of its policy, or of the scans that meet deleted cells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"
#include "cellar/options.h"
#include "engine/store/store_view.h"

namespace cellar {

// Returns whether a compaction for scans may drop markers of the family. Families that keep deleted cells, or
// young markers, and policies whose runs stay apart are left to their policy.
bool may_compact_for_scans(const StoreView& view);

struct PlanForScans {
  CompactionPlan plan;
  HiddenReads::Tally of;  // the scans that have paid for it
};
// Returns a compaction that scans have paid for, or nothing.
std::optional<PlanForScans> plan_for_scans_of(const StoreView& view, const StoreShape& shape);

// Returns the plan of the policy. If `automatic`, a major compaction that is due by its interval comes first.
std::optional<CompactionPlan> plan_by_time(const EngineOptions& engine, const StoreView& view,
                                           const StoreShape& shape, bool automatic,
                                           std::vector<std::string>* trace);

}  // namespace cellar
