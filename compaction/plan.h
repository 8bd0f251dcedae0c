// Compaction plans: check one against its shape, and print it with its reason.
#pragma once

#include <optional>
#include <string>

#include "cellar/compaction_policy.h"
#include "cellar/status.h"

namespace cellar {

// Ok when the plan's inputs exist, are contiguous in age (oldest first), none is busy, and there is something
// to gain: two or more files. `may_rewrite_one` lets a single file pass (a major compaction that drops
// markers). kInvalidArgument otherwise: a policy's fault, never the store's.
Status check_plan(const CompactionPlan& plan, const StoreShape& shape, bool may_rewrite_one);

// Returns the plan of a major compaction: all files. Returns nothing if a file is busy or the store has no
// files. Unless `forced`, it also returns nothing if the single file is already the result of a major
// compaction.
std::optional<CompactionPlan> major_plan(const StoreShape& shape, bool forced);

// "3 of 7 files, 12.0 MiB: ratio 1.2 holds".
std::string to_text(const CompactionPlan& plan, const StoreShape& shape);

}  // namespace cellar
