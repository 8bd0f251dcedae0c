// Activity: what the threads of an engine tell each other: that work moved on, that the engine closes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "cellar/environment.h"

namespace cellar {

// Any thread.
struct Activity {
  explicit Activity(Executor& executor) : event(executor.make_event()), changed(*event) {}
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  const std::unique_ptr<Event> event;
  Event& changed;  // signalled whenever background work begins, ends or fails
  std::atomic<bool> closing{false};
  // Asks the background work to look for compactions that are due. Set before any store is opened.
  std::function<void()> look_now = [] {};
  mutable std::atomic<int64_t> job_bytes{0};  // buffers of the files that flushes and compactions write now
};

// The counts of Engine::status(). Any thread; relaxed.
struct EngineCounters {
  std::atomic<uint64_t> flushes{0};
  std::atomic<uint64_t> compactions{0};
  std::atomic<uint64_t> bytes_flushed{0};
  std::atomic<uint64_t> bytes_compacted{0};
  std::atomic<uint64_t> files_dropped{0};
  std::atomic<uint64_t> scan_compactions{0};
  std::atomic<uint64_t> views_kept{0};       // for snapshots, see Store::install_compaction
  std::atomic<uint64_t> refreshes{0};        // that read only what is new
  std::atomic<uint64_t> refreshes_whole{0};  // that read all of the log
  std::atomic<uint64_t> stalls{0};
  std::atomic<int64_t> stall_micros{0};
};

}  // namespace cellar
