// Actions: runs many requests to one table, each with its own result.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cellar/table.h"

namespace cellar {

// Runs the actions in order and returns a result for each. `together` first tries adjacent puts and deletes
// that read nothing, in a single write. If that write is refused (kInvalidArgument, kLimit), each of its
// actions runs alone, to get a result of its own. Without `together` every action runs alone.
std::vector<Result<ActionResult>> run_actions(Table& table, std::span<const Action> actions,
                                              const WriteOptions& options,
                                              const std::function<Status(std::span<const Action>)>& together);

}  // namespace cellar
