// Actions: many requests to one table, answered one by one.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cellar/table.h"

namespace cellar {

// Does them in their order. Puts and deletes side by side that read nothing are first tried by `together`, as
// one write; where one of them is refused, each is done alone, to have an answer of its own. Without
// `together` each is.
std::vector<ActionResult> run_actions(Table& table, std::span<const Action> actions,
                                      const WriteOptions& options,
                                      const std::function<Status(std::span<const Action>)>& together);

}  // namespace cellar
