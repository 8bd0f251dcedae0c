// FileRemover: deletes a store's old files and the directories of dropped tables, after their last reader.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "engine/store/health.h"
#include "platform/posix_process.h"

namespace cellar {

// Any thread. Deletions run as a job, so that no reader pays for them. They run one at a time. A file system
// that discards freed blocks may need seconds for a large file, and flushes need a thread meanwhile. Nothing
// is deleted while the engine has failed: an edit of the manifest that failed may name the file. After
// resume() it cannot.
class FileRemover {
 public:
  // Borrows all. `root` is the store's directory, which may be opened later.
  FileRemover(Executor& executor, const Health& health, const std::unique_ptr<Directory>& root)
      : executor_(executor), health_(health), root_(root), done_(executor.make_event()) {}

  // Unlinks the file in the background. One that cannot be removed stays; the next open sweeps it.
  void remove(std::shared_ptr<Directory> directory, StoredFile file);
  // The manifest does not name the table any more, and no other table gets its id. Its directories go when
  // they are empty. The directory of a family that left a living table stays until the next open, because a
  // new family may get the same name.
  void remove_table(uint32_t table_id);
  // The engine has failed before, and takes writes again: continues with all that had to wait.
  void resume();

  // Files that were removed since the last call: the manifest need not remember them any longer.
  std::vector<StoredFile> take_removed();
  // The manifest could not be told of these files, which take_removed() gave.
  void give_back(std::vector<StoredFile> removed);

  // Returns when nothing is under way.
  void wait();

 private:
  struct Wanted {
    std::shared_ptr<Directory> directory;
    StoredFile file;
  };
  void begin() CELLAR_EXCLUDES(mutex_);
  void run();
  void remove_directories(std::set<uint32_t> tables);

  const uint64_t generation_ = process_generation();
  Executor& executor_;
  const Health& health_;
  const std::unique_ptr<Directory>& root_;
  std::unique_ptr<Event> done_;
  Mutex mutex_;
  std::deque<Wanted> wanted_ CELLAR_GUARDED_BY(mutex_);
  std::set<uint32_t> tables_ CELLAR_GUARDED_BY(mutex_);   // dropped, with directories that have files
  std::set<uint32_t> emptied_ CELLAR_GUARDED_BY(mutex_);  // those of them that may be empty now
  // The job clears this and signals while it holds the mutex. A thread that sees false under the mutex knows
  // that no job touches this object.
  bool runs_ CELLAR_GUARDED_BY(mutex_) = false;
  std::vector<StoredFile> removed_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
