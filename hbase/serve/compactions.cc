// Runs the compactions that clients asked for.
#include "hbase/serve/compactions.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar::hbase::serve {

void Compactions::request(const std::shared_ptr<Table>& table, const std::string& family, bool major) {
  CELLAR_ASSERT(table != nullptr);
  const Wanted wanted{table->name(), family, major};
  {
    const MutexLock lock(mutex_);
    if (std::ranges::find(waiting_, wanted) != waiting_.end()) return;
    waiting_.push_back(wanted);
  }
  executor_->submit(JobPriority::kLow, [this, table, wanted] { run(*table, wanted); });
}

void Compactions::run(Table& table, const Wanted& wanted) {
  {
    const MutexLock lock(mutex_);
    std::erase(waiting_, wanted);
    if (stopping_) return;
    running_.push_back(wanted);
  }
  // The engine records a failure; the client had its answer before the compaction began.
  static_cast<void>(wanted.major ? table.major_compact(wanted.family) : table.compact(wanted.family));
  const MutexLock lock(mutex_);
  std::erase(running_, wanted);
}

Compactions::State Compactions::state(const std::string& table) {
  State state;
  const MutexLock lock(mutex_);
  for (const auto* list : {&waiting_, &running_})
    for (const Wanted& each : *list)
      if (each.table == table) (each.major ? state.major : state.minor) = true;
  return state;
}

}  // namespace cellar::hbase::serve
