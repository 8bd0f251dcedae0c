// FileRemover: one job a file.
#include "engine/file_remover.h"

namespace cellar {

void FileRemover::remove(std::shared_ptr<Directory> directory, StoredFile file) {
  if (generation_ != process_generation()) return;  // in a forked child: the file is the parent's
  {
    MutexLock lock(mutex_);
    ++pending_;
  }
  executor_.submit(JobPriority::kHigh,
                   [this, directory = std::move(directory), file = std::move(file)]() mutable {
                     // No sync: a file that power loss brings back is named by nothing, and the next open
                     // sweeps it.
                     const bool gone = !health_.failed() && directory->unlink(file.name).ok();
                     directory.reset();
                     MutexLock lock(mutex_);
                     if (gone) removed_.push_back(std::move(file));
                     --pending_;
                     done_->signal();
                   });
}

std::vector<StoredFile> FileRemover::take_removed() {
  MutexLock lock(mutex_);
  return std::exchange(removed_, {});
}

void FileRemover::wait() {
  while (true) {
    const uint64_t seen = done_->count();
    {
      MutexLock lock(mutex_);
      if (pending_ == 0) return;
    }
    done_->wait(seen, -1);
  }
}

}  // namespace cellar
