// plan_repair: finds what is damaged in a store, and decides what a repair does.
#pragma once

#include <string>

#include "cellar/file_system.h"
#include "hfile/check/verify_report.h"
#include "tools/repair/repair_plan.h"

namespace cellar {

// Makes the plan for the store in `root`, which the caller has locked. `path` is that of the store. Reads
// the manifests, the log, and every store file at this level. Writes nothing. Errors:
// - kNotFound: it is no store.
// - kNotSupported: a newer version wrote it, or it is a snapshot.
// - kIoError: a part cannot be read that may be whole.
// - kAborted: interrupted.
Result<RepairPlan> plan_repair(Directory& root, const std::string& path, VerifyLevel level);

}  // namespace cellar
