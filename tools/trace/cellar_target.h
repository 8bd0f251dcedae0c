// CellarTarget: replays on a store of Cellar.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cellar/engine.h"
#include "tools/trace/replay_plan.h"
#include "tools/trace/replay_target.h"

namespace cellar {

using ReplayTables = std::map<std::string, std::shared_ptr<Table>>;

// Opens the tables of a plan. Creates tables and adds families that the store does not have; `created` hears
// their names: "orders" or "orders: family d".
Result<ReplayTables> open_replay_tables(Engine& engine, const ReplayPlan& plan,
                                        const std::function<void(const std::string&)>& created);

// Makes targets on these tables. `engine` and `tables` are borrowed.
std::unique_ptr<ReplayTarget> make_cellar_target(Engine& engine, const ReplayTables& tables);

}  // namespace cellar
