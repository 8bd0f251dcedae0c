// PrefetchJob: which file is next, and how much of it in one go.
#include "engine/jobs/prefetch_job.h"

#include "base/assert.h"

namespace cellar {
namespace {

// The limits of one turn. If one thread runs both, compactions wait for the turn.
constexpr uint64_t kTurnBlocks = 64;
constexpr uint64_t kTurnBytes = 4u << 20;

}  // namespace

bool wants_prefetch(const World& world, const FamilyOptions& family) {
  return family.prefetch_on_open && family.cache_blocks && world.options.cache_bytes != 0;
}

PrefetchJob::PrefetchJob(const World& world, const Activity& activity, std::shared_ptr<Store> store)
    : world_(world), activity_(activity), store_(std::move(store)) {
  CELLAR_ASSERT(store_ != nullptr);
}

bool PrefetchJob::turn() {
  if (!has_file()) return false;
  CELLAR_ASSERT(file_ != nullptr && warm_up_ != nullptr && !warm_up_->done());
  const WarmedUp before = warm_up_->loaded();
  const Status status = warm_up_->run([&] {
    world_.executor.checkpoint();
    const WarmedUp& now = warm_up_->loaded();
    return is_wanted() && now.blocks - before.blocks < kTurnBlocks && now.bytes - before.bytes < kTurnBytes;
  });
  if (!status.ok()) world_.log(LogLevel::kWarning, "a store file is not prefetched: " + status.to_text());
  if (warm_up_->done()) {
    warm_up_.reset();
    file_.reset();
  }
  return true;
}

// False when the job is over.
bool PrefetchJob::has_file() {
  if (file_ != nullptr && !is_wanted()) {
    warm_up_.reset();
    file_.reset();
  }
  while (file_ == nullptr && !next_file())
    if (ended(must_stop())) return false;
  return true;
}

bool PrefetchJob::next_file() {
  CELLAR_ASSERT(file_ == nullptr && warm_up_ == nullptr);
  {
    MutexLock lock(store_->work_mutex());
    store_->work().prefetch_again = false;  // what is asked for from here on is not overlooked
  }
  const std::shared_ptr<const StoreView> view = store_->view();
  if (must_stop() || !wants_prefetch(world_, view->config->options)) return false;
  for (size_t i = view->files.size(); i-- > 0;) {
    if (!view->files[i]->take_prefetch()) continue;
    file_ = view->files[i];
    warm_up_ = std::make_unique<WarmUp>(
        file_->reader(),
        WarmUpOptions{.parts = {.data = true, .index = true, .blooms = true}, .evict = false});
    return true;
  }
  return false;
}

// Returns true if a reader may still use the file, and its family still requests prefetching.
bool PrefetchJob::is_wanted() const {
  return !must_stop() && !file_->obsolete() && wants_prefetch(world_, store_->view()->config->options);
}

bool PrefetchJob::ended(bool stop) {
  MutexLock lock(store_->work_mutex());
  Store::Work& work = store_->work();
  CELLAR_ASSERT(work.prefetch_runs && file_ == nullptr);
  if (work.prefetch_again && !stop) return false;
  work.prefetch_runs = false;
  return true;
}

}  // namespace cellar
