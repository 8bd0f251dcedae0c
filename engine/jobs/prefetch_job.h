// PrefetchJob: the store files of a family that asks for it are read into the cache ahead of all reads.
#pragma once

#include <memory>

#include "engine/store/activity.h"
#include "engine/store/store.h"
#include "engine/store/world.h"
#include "hfile/read/warm_up.h"

namespace cellar {

// Returns true if files of a family with these options are prefetched. The family must request it, its reads
// must fill the cache, and the engine must have a cache.
bool wants_prefetch(const World& world, const FamilyOptions& family);

// A store has at most one such job at a time; Store::Work records it. The job reads the files of the store's
// view that were not prefetched yet, the newest first. It reads a piece at a time, so that other jobs get
// their turn. It leaves a file alone when the cache is full, and when the file is obsolete or dropped. After
// a failure, which is logged, it also leaves the file alone. Follows HBase's PrefetchExecutor. One thread at
// a time.
class PrefetchJob {
 public:
  PrefetchJob(const World& world, const Activity& activity, std::shared_ptr<Store> store);

  // Reads one piece; false when nothing is left to do: then Work says that the job is gone.
  bool turn();

 private:
  bool has_file();
  bool next_file();
  bool is_wanted() const;
  bool must_stop() const { return activity_.closing.load() || store_->dropped(); }
  bool ended(bool stop);

  const World& world_;
  const Activity& activity_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<StoreFile> file_;  // being read, or null
  std::unique_ptr<WarmUp> warm_up_;  // of it
};

}  // namespace cellar
