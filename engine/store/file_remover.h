// FileRemover: deletes a store's old files, but only after the last reader has let go of them.
#pragma once

#include <deque>
#include <memory>
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
// is deleted once the engine has failed.
class FileRemover {
 public:
  FileRemover(Executor& executor, const Health& health)
      : executor_(executor), health_(health), done_(executor.make_event()) {}

  // Unlinks the file in the background. One that cannot be removed stays; the next open sweeps it.
  void remove(std::shared_ptr<Directory> directory, StoredFile file);

  // Files that were removed since the last call: the manifest need not remember them any longer.
  std::vector<StoredFile> take_removed();

  // Returns when nothing is under way.
  void wait();

 private:
  struct Wanted {
    std::shared_ptr<Directory> directory;
    StoredFile file;
  };
  void run();

  const uint64_t generation_ = process_generation();
  Executor& executor_;
  const Health& health_;
  std::unique_ptr<Event> done_;
  Mutex mutex_;
  std::deque<Wanted> wanted_ CELLAR_GUARDED_BY(mutex_);
  // The job clears this and signals while it holds the mutex. A thread that sees false under the mutex knows
  // that no job touches this object.
  bool runs_ CELLAR_GUARDED_BY(mutex_) = false;
  std::vector<StoredFile> removed_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
