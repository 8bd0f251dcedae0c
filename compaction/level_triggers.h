// LevelTriggers: compactions of a store with levels because of its delete markers, besides those because of
// sizes. The density and the age of tombstones of Lethe (Sarkar et al., SIGMOD 2020).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cellar/plugin.h"
#include "compaction/levels.h"

namespace cellar {

// LevelTriggers: two limits. A pure function of the files. Any thread; const.
//
// - tombstones: a file from level 1 on must go down if more than this part of its cells are delete markers.
//   From 0 to 1; 0: never.
// - tombstone_age: a marker reaches the deepest level, and leaves it, within this time. Each level may keep
//   it for a part of the time, `fanout` times as long as the level above. 0: no limit. Policies are asked
//   after flushes and compactions, and when a time comes at which they would have a plan.
//
// Markers that stayed when a file was written, although nothing older shares rows with it, do not count. An
// open snapshot may need them, or the family keeps them.
class LevelTriggers {
 public:
  struct Due {
    const StoreFileInfo* file = nullptr;
    std::string why = {};
  };

  LevelTriggers(const PluginParams& params, double fanout)
      : tombstones_(params.number_within("tombstones", 0, 0, 1)),
        age_ms_(params.duration_ms("tombstone_age", 0)),
        fanout_(fanout) {}

  // Returns the file that is due, or nothing. The oldest marker comes first, then the greatest part of
  // markers. Files that are busy, or share rows with a busy file of the next level, are not due. The file
  // points into the levels. `trace` receives the reason.
  std::optional<Due> due(const Levels& levels, const StoreShape& shape,
                         std::vector<std::string>* trace) const;

 private:
  // Returns for how long a file of this level may keep a marker, counted from the marker's timestamp.
  double allowed_ms(uint32_t level, size_t deepest) const;

  double tombstones_;
  int64_t age_ms_;
  double fanout_;
};

}  // namespace cellar
