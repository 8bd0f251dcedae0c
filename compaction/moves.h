// Moves: sorted runs that become one without a rewrite, because they share no rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/tiers.h"

namespace cellar {

// Parameter:
// - moves: a run that shares no rows with the next older one joins it as it is, up to 32 files. So rows that
//   come in order are seldom rewritten. LevelDB and RocksDB call this a trivial move; HBase has none. false:
//   as HBase.
//
// Runs that a rewrite makes better wait for one. These have delete markers, or small files: less than a
// sixteenth of a memtable on average. Any thread.
class Moves {
 public:
  explicit Moves(const PluginParams& params) : moves_(params.flag("moves", true)) {}

  // Returns a plan that moves the files of a run, or nothing. It costs nothing, so a policy asks first. The
  // runs are the shape's.
  std::optional<CompactionPlan> pick(Runs runs, const StoreShape& shape,
                                     std::vector<std::string>* trace) const;

 private:
  bool moves_;
};

}  // namespace cellar
