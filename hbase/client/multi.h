// Multi: many gets and mutations of a table, sent together to the servers of their regions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/pin.h"
#include "hbase/client/cluster.h"
#include "hbase/wire/cell_blocks.h"

namespace cellar::hbase {

namespace wire {
class WireAction;
class WireResult;
}  // namespace wire

// MultiTask: one action. Actions run in no order, so that tasks that are run together have different rows, or
// are gets.
struct MultiTask {
  std::string row;
  // Sets the action, and appends its cells. Called once for each attempt.
  std::function<Status(wire::WireAction& action, std::string& cells)> write;
  // Takes the result. The pin keeps the cell block.
  std::function<Status(const wire::WireResult& result, wire::CellBlockReader& block, const Pin& frame)> read;
  bool changes = false;   // it is a mutation
  bool unknown = false;   // an attempt may have made the change; of run_multi
  uint32_t doubtful = 0;  // attempts with such an error; of run_multi
  Status status = {};     // set by run_multi
};

// Runs all tasks, and sets the status of each: kDurabilityUnknown for a change that failed after an attempt
// that may have made it. A task must bear to be made twice: increments have a nonce.
void run_multi(Cluster& cluster, const std::string& table, std::vector<MultiTask>& tasks,
               int64_t deadline_us);

}  // namespace cellar::hbase
