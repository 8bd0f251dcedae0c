// Triggers: compactions that a policy adds because of what delete markers and expired cells occupy.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/sorted_runs.h"

namespace cellar {

// Returns the part of a file's cells that has expired and may be erased, from 0 to 1. It is an estimate: as
// if the timestamps were spread evenly. Cells that had expired when the file was written are not in it. So
// the result is 0 just after that.
double expired_part(const StoreFileInfo& file, const StoreShape& shape);

// Parameters, parts from 0 to 1. 0: no compaction for this reason.
// - tombstones: two neighbours in age are merged if more than this part of their cells are delete markers. So
//   markers go down, towards the data that they hide. The oldest run is rewritten alone. Markers that a
//   compaction down to the oldest run has kept do not count.
// - expired: a file is rewritten if more than this part of its cells has expired, see expired_part().
class Triggers {
 public:
  explicit Triggers(const PluginParams& params)
      : tombstones_(params.number_within("tombstones", 0, 0, 1)),
        expired_(params.number_within("expired", 0, 0, 1)) {}

  // Returns a compaction for one of the reasons, or nothing. For policies that have nothing else to do. The
  // runs are the shape's.
  std::optional<CompactionPlan> pick(std::span<const SortedRun> runs, const StoreShape& shape,
                                     std::vector<std::string>* trace) const;

 private:
  std::optional<CompactionPlan> pick_marked(std::span<const SortedRun> runs,
                                            std::vector<std::string>* trace) const;
  std::optional<CompactionPlan> pick_expired(std::span<const SortedRun> runs, const StoreShape& shape,
                                             std::vector<std::string>* trace) const;

  double tombstones_;
  double expired_;
};

}  // namespace cellar
