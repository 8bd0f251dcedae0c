// CompactionJob: the recipe of a compaction: some files become one, and what nobody can see any more is gone.
#pragma once

#include <vector>

#include "cellar/compaction_policy.h"
#include "engine/core.h"

namespace cellar {

// The store as policies see it.
struct ShapeOfStore {
  std::vector<FileSummary> files;
  StoreShape shape;  // points into `files`
};
ShapeOfStore shape_of(const EngineCore& core, const Store& store, const StoreView& view, int64_t now_ms);

// Runs a checked plan: kAborted when the engine closes meanwhile.
Status compact_store(EngineCore& core, Store& store, const CompactionPlan& plan);

}  // namespace cellar
