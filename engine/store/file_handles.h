// FileHandles: keeps the number of store files held open within a bound; what is read again is opened again.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "base/assert.h"
#include "base/mutex.h"
#include "cellar/file_system.h"

namespace cellar {

// Any thread. Must outlive the files it gave.
class FileHandles {
 public:
  // `open_max` is at least 1. Reads under way may hold a few more open for a moment.
  explicit FileHandles(size_t open_max) : open_max_(open_max) { CELLAR_ASSERT(open_max > 0); }

  // Returns a file of fixed size. It counts as a single file, no matter whether its handle is open. The name
  // must stay in the directory, unchanged, for as long as the file is used. Errors as Directory::open.
  Result<std::unique_ptr<ReadableFile>> open(std::shared_ptr<Directory> directory, std::string name);

 private:
  friend class PooledFile;
  struct Slot {
    std::shared_ptr<const ReadableFile> handle;  // null: closed
    std::list<Slot*>::iterator place;            // among the open ones, while there is a handle
  };
  // The slot's handle, opened if need be, and marked as used last.
  Result<std::shared_ptr<const ReadableFile>> acquire(Slot& slot, Directory& directory,
                                                      const std::string& name);
  std::shared_ptr<const ReadableFile> install(Slot& slot, std::unique_ptr<ReadableFile> opened);
  void forget(Slot& slot);

  const size_t open_max_;
  Mutex mutex_;
  std::list<Slot*> open_ CELLAR_GUARDED_BY(mutex_);  // used last in front
};

}  // namespace cellar
