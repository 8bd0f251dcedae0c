// FileRemover: one job a file.
#include "engine/store/file_remover.h"

#include "base/assert.h"

namespace cellar {

void FileRemover::remove(std::shared_ptr<Directory> directory, StoredFile file) {
  CELLAR_ASSERT(directory != nullptr);
  if (generation_ != process_generation()) return;  // in a forked child: the file is the parent's
  {
    MutexLock lock(mutex_);
    wanted_.push_back({std::move(directory), std::move(file)});
    if (std::exchange(runs_, true)) return;
  }
  executor_.submit(JobPriority::kHigh, [this] { run(); });
}

void FileRemover::run() {
  while (true) {
    Wanted next;
    {
      MutexLock lock(mutex_);
      CELLAR_ASSERT(runs_);  // one job, until it finds nothing
      if (wanted_.empty()) {
        runs_ = false;
        done_->signal();
        return;
      }
      next = std::move(wanted_.front());
      wanted_.pop_front();
    }
    // No sync: a file that power loss brings back is named by nothing, and the next open sweeps it.
    const bool gone = !health_.failed() && next.directory->unlink(next.file.name).ok();
    next.directory.reset();
    MutexLock lock(mutex_);
    if (gone) removed_.push_back(std::move(next.file));
  }
}

std::vector<StoredFile> FileRemover::take_removed() {
  MutexLock lock(mutex_);
  return std::exchange(removed_, {});
}

void FileRemover::wait() {
  CELLAR_ASSERT(mutexes_held() == 0);
  while (true) {
    const uint64_t seen = done_->count();
    {
      MutexLock lock(mutex_);
      if (!runs_) return;
    }
    done_->wait(seen, -1);
  }
}

}  // namespace cellar
