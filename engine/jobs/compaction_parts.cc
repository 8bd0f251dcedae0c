// CompactionParts: a list of parts from which threads take, the compaction's own thread as well.
#include "engine/jobs/compaction_parts.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "engine/read/range_estimate.h"

namespace cellar {
namespace {

size_t parts_max_of(const EngineOptions& options) {
  CELLAR_ASSERT(options.background_threads > 1);
  if (options.compaction_parts_max != 0) return options.compaction_parts_max;
  return static_cast<size_t>(options.background_threads) - 1;
}

// PartList: the parts of one compaction. Any thread. It outlives the compaction while a job that came too
// late is queued. `work` and `executor` are used only while a part is under way.
class PartList {
 public:
  PartList(Executor& executor, size_t parts, const PartWork& work)
      : executor_(executor), work_(work), moved_(executor.make_event()), statuses_(parts) {
    CELLAR_ASSERT(parts > 0);
  }

  // Does the next part. False if none is left. `progress` may be empty.
  bool do_next(const std::function<void(uint64_t)>& progress) {
    const std::optional<size_t> part = take();
    if (!part) return false;
    uint64_t seen = 0;
    const Status status = work_(*part, [&](uint64_t cells) {
      executor_.checkpoint();
      CELLAR_ASSERT(cells >= seen);
      const uint64_t all = cells_.fetch_add(cells - seen) + cells - seen;
      seen = cells;
      if (progress)
        progress(all);
      else
        moved_->signal();
      return stopped_.load() ? Status::aborted("another part of the compaction has failed") : Status();
    });
    end(*part, status);
    return true;
  }

  // Waits for the parts that other threads have begun. No part is left.
  void wait(const std::function<void(uint64_t)>& progress) {
    CELLAR_ASSERT(mutexes_held() == 0);
    while (true) {
      const uint64_t seen = moved_->count();
      if (is_over()) return;
      moved_->wait(seen, -1);
      progress(cells_.load());
    }
  }

  // Returns what the parts came to. Call after wait().
  Status outcome() {
    MutexLock lock(mutex_);
    CELLAR_ASSERT(under_way_ == 0 && (stopped_.load() || next_ == statuses_.size()));
    const auto own = std::ranges::find_if(
        statuses_, [](const Status& each) { return !each.ok() && !each.is(Code::kAborted); });
    if (own != statuses_.end()) return *own;
    const auto aborted = std::ranges::find_if(statuses_, [](const Status& each) { return !each.ok(); });
    return aborted == statuses_.end() ? Status() : *aborted;
  }

 private:
  std::optional<size_t> take() {
    MutexLock lock(mutex_);
    if (stopped_.load() || next_ == statuses_.size()) return std::nullopt;
    ++under_way_;
    return next_++;
  }

  void end(size_t part, const Status& status) {
    {
      MutexLock lock(mutex_);
      CELLAR_ASSERT(under_way_ > 0 && part < next_);
      statuses_[part] = status;
      if (!status.ok()) stopped_.store(true);
      --under_way_;
    }
    moved_->signal();
  }

  bool is_over() {
    MutexLock lock(mutex_);
    CELLAR_ASSERT(stopped_.load() || next_ == statuses_.size());
    return under_way_ == 0;
  }

  Executor& executor_;
  const PartWork& work_;
  const std::unique_ptr<Event>
      moved_;                         // signalled at checkpoints of other threads, and when a part has ended
  std::atomic<uint64_t> cells_{0};    // of all parts so far
  std::atomic<bool> stopped_{false};  // a part has failed
  Mutex mutex_;
  size_t next_ CELLAR_GUARDED_BY(mutex_) = 0;
  size_t under_way_ CELLAR_GUARDED_BY(mutex_) = 0;
  std::vector<Status> statuses_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace

std::vector<std::string> part_borders(const EngineOptions& options, const CompactionPlan& plan,
                                      std::span<const std::vector<std::shared_ptr<StoreFile>>> runs) {
  CELLAR_ASSERT(!plan.move && !plan.drop);
  if (plan.file_bytes == 0 && plan.file_starts.empty()) return {};
  uint64_t bytes = 0;
  for (const auto& files : runs)
    for (const auto& file : files) bytes += file->record().bytes;
  if (plan.file_bytes > bytes / 2) return {};
  const uint64_t least = std::max<uint64_t>({1, options.compaction_part_bytes, 2 * plan.file_bytes});
  const size_t parts = std::min<uint64_t>(parts_max_of(options), bytes / least);
  if (parts < 2) return {};
  // Without a size, files begin only at the rows that the plan names.
  std::span<const std::string> only_at;
  if (plan.file_bytes == 0) only_at = plan.file_starts;
  Result<std::vector<std::string>> borders = split_files(runs, parts, only_at);
  if (!borders.ok()) return {};
  CELLAR_ASSERT(std::ranges::adjacent_find(*borders, std::greater_equal()) == borders->end());
  return *std::move(borders);
}

Status run_parts(Executor& executor, size_t parts, const PartWork& work,
                 const std::function<void(uint64_t cells)>& progress) {
  CELLAR_ASSERT(parts > 0 && work && progress);
  const auto list = std::make_shared<PartList>(executor, parts, work);
  // A job does one part. Compactions that are queued before the next job come first.
  for (size_t job = 1; job < parts; ++job) executor.submit(JobPriority::kLow, [list] { list->do_next({}); });
  while (list->do_next(progress)) {
  }
  list->wait(progress);
  return list->outcome();
}

}  // namespace cellar
