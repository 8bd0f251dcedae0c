// CompactionJob: the recipe of a compaction: some files become one, and what nobody can see any more is gone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"
#include "engine/jobs/store_work.h"

namespace cellar {

// The store as policies see it.
struct ShapeOfStore {
  std::vector<StoreFileInfo> files;
  StoreShape shape;  // points into `files`
};
// Cells that expired before `erase_ms` may be erased.
ShapeOfStore shape_of(const EngineOptions& engine, const Store& store, const StoreView& view, int64_t now_ms,
                      int64_t erase_ms);

// The name of the trouble that a file is damaged and left out of compactions.
std::string set_aside_name(const StoreFile& file);

// Runs a checked plan: kAborted when the engine closes meanwhile. An input that turns out to be damaged is
// set aside. Calls `turn` at each checkpoint: it may run other compactions of the store on this thread.
Status compact_store(const StoreWork& work, Store& store, const CompactionPlan& plan,
                     const std::function<void()>& turn);

}  // namespace cellar
