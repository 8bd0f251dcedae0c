// EarlySync: a file that another thread syncs while it is written.
//
// A medium has a cache of its own, and only a sync empties it. A single sync at the end of a file of 70 MB
// took 85 ms on a virtual disk. The kernel had written all of the file before, and nobody computed meanwhile.
// With a sync for each 8 MiB on another thread, the last one takes 8 ms.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/work_in_order.h"
#include "cellar/environment.h"
#include "cellar/file_system.h"

namespace cellar {

// Passes everything on to the file it is given. Fails for ever once an early sync has failed, because a sync
// that is tried again proves nothing. Nothing depends on a second thread: if none is free, there is no early
// sync. One thread at a time.
class EarlySync final : public WritableFile {
 public:
  static constexpr uint64_t kBytes = 8 << 20;  // appended, before the next sync

  // The executor is borrowed. The file is in plain mode.
  EarlySync(std::unique_ptr<WritableFile> file, Executor& executor, uint64_t bytes = kBytes);
  // Waits for a sync that a thread has begun. No Mutex may be held, as for sync() and close().
  ~EarlySync() override;
  EarlySync(const EarlySync&) = delete;
  EarlySync& operator=(const EarlySync&) = delete;

  Status append(std::string_view bytes) override;
  Status sync() override;
  uint64_t size() const override;
  Status close() override;

 private:
  struct Piece {};  // all bytes appended so far

  const std::unique_ptr<WritableFile> file_;
  const uint64_t bytes_;
  uint64_t asked_ = 0;        // the size at the last early sync
  WorkInOrder<Piece> syncs_;  // one at most; last: it ends first
};

}  // namespace cellar
