// MemoryMeter: what an open file holds in memory for good, charged to the cache, and the bound on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "cache/block_cache.h"
#include "cellar/status.h"
#include "hfile/format/caps.h"

namespace cellar {

// Any thread.
class MemoryMeter {
 public:
  // The bound keeps a small file that inflates from filling the machine; honest indexes and filters stay far
  // below.
  MemoryMeter(std::shared_ptr<BlockCache> cache, uint64_t file_bytes)
      : cache_(std::move(cache)), bytes_max_(kOpenFileBytesMax + file_bytes / 4) {}
  ~MemoryMeter() {
    if (cache_ != nullptr) cache_->charge_pinned(-static_cast<int64_t>(bytes_.load()));
  }
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

  // False, and nothing is charged, when the file would hold more than it may.
  bool charge(uint64_t bytes) {
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > bytes_max_) {
      bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    if (cache_ != nullptr) cache_->charge_pinned(static_cast<int64_t>(bytes));
    return true;
  }
  void release(uint64_t bytes) {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    if (cache_ != nullptr) cache_->charge_pinned(-static_cast<int64_t>(bytes));
  }
  // Returns the error of a refused charge; `what` is "the file's index".
  Status refusal(std::string_view what) const {
    return Status::limit(std::string(what) + " takes more memory than a file of this size may: " +
                         human_bytes(bytes_max_) + " (128 MiB and a quarter of the file)");
  }

 private:
  std::shared_ptr<BlockCache> cache_;
  std::atomic<uint64_t> bytes_{0};
  const uint64_t bytes_max_;
};

}  // namespace cellar
