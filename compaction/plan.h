// Compaction plans: check one against its shape, and print it with its reason.
#pragma once

#include <optional>
#include <string>

#include "cellar/compaction_policy.h"
#include "cellar/status.h"

namespace cellar {

// Ok if the plan can be carried out:
// - The inputs are files of the shape, each named once, and none is busy.
// - No input passes a file that shares rows with it, which is not an input, on its way to the output's run.
// - A run that the output joins exists, has the plan's level, and is not younger than an input.
//   It has no other file between the first and the last row of the inputs.
// - There is something to gain: several files, another run, a split, or cells that have expired.
//   `may_rewrite_one` lets a single file pass (a major compaction that drops markers).
// - Files that move belong to one run, which is not the output's.
// - Files that are dropped have no output, and no answer shows what it did not show before. Either all their
//   cells have expired. Or the plan says that they are live. Then no older file and no older put stays that
//   shares rows with them.
// kInvalidArgument otherwise: a policy's fault, never the store's.
Status check_plan(const CompactionPlan& plan, const StoreShape& shape, bool may_rewrite_one);

// Returns the plan of a major compaction: all files, to where `policy` puts them. Returns nothing if a file
// is busy or the store has no files. Unless `forced`, it also returns nothing if the store is a single run
// that is already the result of a major compaction.
std::optional<CompactionPlan> major_plan(const CompactionPolicy& policy, const StoreShape& shape,
                                         bool forced);

// Returns the plan that drops all files that have expired as a whole, without a busy one. Returns nothing if
// there is no such file.
std::optional<CompactionPlan> expired_plan(const StoreShape& shape);

// "3 of 7 files, 12.0 MiB: ratio 1.2 holds".
std::string to_text(const CompactionPlan& plan, const StoreShape& shape);

}  // namespace cellar
