// CompactionParts: a compaction cut into ranges of rows, which several threads rewrite at the same time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"
#include "cellar/environment.h"
#include "cellar/options.h"
#include "engine/store/store_file.h"

namespace cellar {

// Returns the rows that cut the inputs of a plan into parts, ascending. `runs` are the inputs. Returns none
// if the plan asks for a single file, or the inputs are too small. Also returns none if an index cannot be
// read: the rewrite meets the damage, and reports it.
std::vector<std::string> part_borders(const EngineOptions& options, const CompactionPlan& plan,
                                      std::span<const std::vector<std::shared_ptr<StoreFile>>> runs);

// Called by a part between pieces of bounded work, with its cells so far. The part ends with a status that is
// not ok.
using PartCheckpoint = std::function<Status(uint64_t cells)>;
// Does the part with this index. Any thread, several parts at a time.
using PartWork = std::function<Status(size_t part, const PartCheckpoint& checkpoint)>;

// Does all parts, on this thread and on those threads for compactions that are free. Waits only for parts
// that another thread has begun. Calls `progress` on this thread, at checkpoints and while it waits, with the
// cells of all parts so far. After a failure no part begins, and the others end at their next checkpoint.
// Returns the failure of the first part that failed by itself. kAborted if all failures are.
Status run_parts(Executor& executor, size_t parts, const PartWork& work,
                 const std::function<void(uint64_t cells)>& progress);

}  // namespace cellar
