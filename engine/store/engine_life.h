// EngineLife: whether an engine may still be used.
#pragma once

#include <atomic>
#include <cstdint>

#include "cellar/status.h"
#include "platform/posix_process.h"

namespace cellar {

// Any thread.
struct EngineLife {
  const uint64_t generation = process_generation();
  std::atomic<bool> closed{false};
  std::atomic<uint64_t> scanners{0};  // open ones: close() refuses while there are any

  bool is_open() const { return !closed.load(std::memory_order_acquire) && !inherited(); }
  // Returns ok while the engine may be used; kAborted after close(), and in a process that was forked after
  // the open.
  Status check_open() const {
    if (closed.load(std::memory_order_acquire)) return Status::aborted("the engine is closed");
    return inherited() ? inherited_status() : Status();
  }
  // Returns whether this process was forked by the one that opened the engine. The engine's files, its lock
  // and its threads belong to the parent: a child must neither use nor end any part of the engine.
  bool inherited() const { return generation != process_generation(); }
  static Status inherited_status();
};

}  // namespace cellar
