// FileRemover: one job a file, then the directories that became empty.
#include "engine/store/file_remover.h"

#include <iterator>
#include <string>

#include "base/assert.h"

namespace cellar {

void FileRemover::remove(std::shared_ptr<Directory> directory, StoredFile file) {
  CELLAR_ASSERT(directory != nullptr);
  if (generation_ != process_generation()) return;  // in a forked child: the file is the parent's
  {
    MutexLock lock(mutex_);
    wanted_.push_back({std::move(directory), std::move(file)});
  }
  begin();
}

void FileRemover::remove_table(uint32_t table_id) {
  {
    MutexLock lock(mutex_);
    const bool added = tables_.insert(table_id).second;
    CELLAR_ASSERT(added && table_id != 0);  // a table is dropped once
    emptied_.insert(table_id);
  }
  begin();
}

void FileRemover::resume() {
  CELLAR_ASSERT(mutexes_held() == 0);
  begin();
}

// The health is looked at under the mutex, here and by the job that ends. One that fails to see the end of a
// failure has therefore ended before resume() comes here.
void FileRemover::begin() {
  {
    MutexLock lock(mutex_);
    if (health_.failed() || (wanted_.empty() && emptied_.empty()) || std::exchange(runs_, true)) return;
  }
  executor_.submit(JobPriority::kHigh, [this] { run(); });
}

void FileRemover::run() {
  while (true) {
    Wanted next;
    std::set<uint32_t> emptied;
    {
      MutexLock lock(mutex_);
      CELLAR_ASSERT(runs_);  // one job, until it finds nothing
      if (health_.failed() || (wanted_.empty() && emptied_.empty())) {
        runs_ = false;
        done_->signal();
        return;
      }
      if (wanted_.empty()) {
        emptied.swap(emptied_);
      } else {
        next = std::move(wanted_.front());
        wanted_.pop_front();
      }
    }
    if (next.directory == nullptr) {
      remove_directories(std::move(emptied));
      continue;
    }
    // No sync: a file that power loss brings back is named by nothing, and the next open sweeps it.
    const bool gone = next.directory->unlink(next.file.name).ok();
    next.directory.reset();
    MutexLock lock(mutex_);
    if (tables_.contains(next.file.table_id)) emptied_.insert(next.file.table_id);
    if (gone) removed_.push_back(std::move(next.file));
  }
}

// A directory that power loss brings back is removed by the next open, too.
void FileRemover::remove_directories(std::set<uint32_t> tables) {
  CELLAR_ASSERT(!tables.empty() && root_ != nullptr);
  std::erase_if(tables, [&](uint32_t table) { return !remove_table_directories(*root_, table); });
  MutexLock lock(mutex_);
  for (const uint32_t gone : tables) tables_.erase(gone);
}

std::vector<StoredFile> FileRemover::take_removed() {
  MutexLock lock(mutex_);
  return std::exchange(removed_, {});
}

void FileRemover::give_back(std::vector<StoredFile> removed) {
  MutexLock lock(mutex_);
  removed_.insert(removed_.end(), std::move_iterator(removed.begin()), std::move_iterator(removed.end()));
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
