// Carrying out the plan of a repair.
#pragma once

#include <string>

#include "tools/repair/repair_plan.h"

namespace cellar {

// Carries out the plan for the store in `root`, which the caller has locked. Each step is durable before
// the next one begins: copies to the quarantine, then the log, then the manifest, then the removal of
// files. If it is interrupted, the store can be repaired again. Returns the path of the quarantine,
// relative to the store; empty if nothing is there.
Result<std::string> carry_out(Directory& root, const std::string& path, const RepairPlan& plan);

// Copies the store at `from`, without its named snapshots and its quarantine, to the new directory `to`.
// Store files, segments and manifests are links where the file system has them: no file of a store changes
// once it is written. The caller holds the lock of `from`.
Status copy_store(const std::string& from, const std::string& to);

}  // namespace cellar
