// CountedPlans: finds that a policy plans without end, for a caller who waits for the last compaction.
#pragma once

#include <cstdint>

#include "cellar/compaction_policy.h"
#include "engine/store/store.h"

namespace cellar {

class CountedPlans {
 public:
  // Counts a plan that was carried out after so many flushes of the engine. Each flush begins a new count. A
  // count that no policy needs for so many files is kInvalidArgument. The error names the policy and the
  // plan's reason. A file may pass many levels.
  Status check(const Store& store, const CompactionPlan& plan, uint64_t flushes);

 private:
  static constexpr uint64_t kFree = 1000;
  static constexpr uint64_t kOfAFile = 20;
  uint64_t plans_ = 0;
  uint64_t flushes_ = 0;
  uint64_t files_ = 0;  // the most that the family had meanwhile
};

}  // namespace cellar
