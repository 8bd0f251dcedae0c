// LogRelease: which segments of the log may go, and what is forgotten with them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "engine/jobs/store_work.h"
#include "engine/store/catalog.h"

namespace cellar {

// Any thread.
class LogRelease {
 public:
  // Borrows all.
  LogRelease(const StoreWork& work, const Catalog& catalog) : work_(work), catalog_(catalog) {}

  // The log that counts begins at this segment.
  void begins_at(uint64_t segment) { start_.store(segment); }
  // Returns the number of segments with cells that may be in no store file.
  uint64_t unflushed_segments() const;
  // A family was dropped. Its id is forgotten when no log segment mentions it any more. `sequence` is the
  // newest sequence that the log may have, visible or not.
  void note_dropped(uint32_t family_id, uint64_t sequence);
  // Releases log segments that no feed needs and whose cells are all in store files. Cuts off feeds that hold
  // back too much. A failed release is tried again by the next one.
  void run() noexcept;
  // Until let_go() no release runs. hold() waits for one that does. A release that is asked for meanwhile is
  // left to the next one.
  void hold();
  void let_go();

 private:
  void run_once();
  std::vector<uint32_t> not_mentioned_after(uint64_t released_up_to);

  const StoreWork work_;
  const Catalog& catalog_;
  std::atomic<bool> running_{false};
  std::atomic<bool> awaited_{false};  // hold() waits, or has waited
  std::atomic<uint64_t> wanted_{0};
  std::atomic<uint64_t> start_{0};
  Mutex dropped_mutex_;
  std::map<uint32_t, uint64_t> dropped_ CELLAR_GUARDED_BY(dropped_mutex_);
};

}  // namespace cellar
