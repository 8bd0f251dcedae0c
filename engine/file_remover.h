// FileRemover: deletes a store's old files, but only after the last reader has let go of them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "engine/directory.h"
#include "engine/health.h"
#include "platform/posix_process.h"

namespace cellar {

// Any thread. Deletions run as jobs, so that no reader pays for them; nothing is deleted once the engine has
// failed.
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
  const uint64_t generation_ = process_generation();
  Executor& executor_;
  const Health& health_;
  std::unique_ptr<Event> done_;
  Mutex mutex_;
  // Counted down and signalled under the mutex: who sees 0 knows that no job touches this object any more.
  int64_t pending_ CELLAR_GUARDED_BY(mutex_) = 0;
  std::vector<StoredFile> removed_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar
