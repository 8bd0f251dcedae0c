// PrefetchJob: the store files of a family that asks for it are read into the cache ahead of all reads.
#pragma once

#include <memory>

#include "engine/store/activity.h"
#include "engine/store/store.h"
#include "engine/store/world.h"
#include "hfile/read/warm_up.h"

namespace cellar {

// Whether files of a family with these options are prefetched: it asks for it, its reads fill the cache, and
// there is one.
bool wants_prefetch(const World& world, const FamilyOptions& family);

// One for a store at a time; Store::Work says whether there is one. Reads the files of the store's view that
// were not prefetched yet, the newest first, a piece at a time, so that others get their turn. A file is left
// alone when the cache is full, when it is obsolete or dropped, and after a failure, which is logged. Follows
// HBase's PrefetchExecutor. One thread at a time.
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
