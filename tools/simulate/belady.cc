// simulate_belady(): one walk backwards for the next uses, then one forwards with a heap of them.
#include "tools/simulate/belady.h"

#include <queue>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace cellar {
namespace {

constexpr uint64_t kNever = UINT64_MAX;

bool is_lookup(BlockUseKind kind) {
  return kind == BlockUseKind::kHit || kind == BlockUseKind::kMiss || kind == BlockUseKind::kPassed;
}

class Belady {
 public:
  Belady(const CacheTrace& trace, uint64_t capacity_bytes)
      : trace_(trace),
        capacity_(capacity_bytes),
        later_(trace.uses.size(), kNever),
        blocks_(trace.blocks.size()) {
    // After the walk, blocks_[n].next is the first use of block n.
    for (size_t i = trace.uses.size(); i-- > 0;) {
      const CacheTrace::Use& use = trace.uses[i];
      if (use.kind == BlockUseKind::kClosed) continue;
      later_[i] = blocks_[use.number].next;
      if (is_lookup(use.kind)) blocks_[use.number].next = i;
    }
  }

  CacheCounts run() {
    for (size_t i = 0; i < trace_.uses.size(); ++i) step(trace_.uses[i], later_[i]);
    return counts_;
  }

 private:
  struct Block {
    uint64_t next = kNever;  // the index of its next lookup
    bool present = false;
  };

  void step(const CacheTrace::Use& use, uint64_t next) {
    if (use.kind == BlockUseKind::kClosed) {
      for (const uint32_t number : trace_.files[use.number]) leave(number);
      return;
    }
    Block& block = blocks_[use.number];
    const uint64_t bytes = trace_.blocks[use.number].bytes;
    block.next = next;
    if (block.present) {
      furthest_.emplace(next, use.number);
      if (!is_lookup(use.kind)) return;
      ++counts_.hits;
      counts_.hit_bytes += bytes;
    } else if (use.kind == BlockUseKind::kLoaded ? fits(bytes)
                                                 : use.kind != BlockUseKind::kPassed && bytes <= capacity_) {
      while (!fits(bytes)) evict();
      block.present = true;
      used_ += bytes;
      furthest_.emplace(next, use.number);
    }
  }

  bool fits(uint64_t bytes) const { return bytes <= capacity_ && used_ <= capacity_ - bytes; }

  // The heap also holds what was true before later uses; such pairs are skipped.
  void evict() {
    while (true) {
      CELLAR_ASSERT(!furthest_.empty());
      const auto [next, number] = furthest_.top();
      furthest_.pop();
      if (!blocks_[number].present || blocks_[number].next != next) continue;
      leave(number);
      ++counts_.evictions;
      return;
    }
  }

  void leave(uint32_t number) {
    if (!blocks_[number].present) return;
    blocks_[number].present = false;
    used_ -= trace_.blocks[number].bytes;
  }

  const CacheTrace& trace_;
  const uint64_t capacity_;
  std::vector<uint64_t> later_;  // of each use, the next lookup of its block
  std::vector<Block> blocks_;
  std::priority_queue<std::pair<uint64_t, uint32_t>> furthest_;
  uint64_t used_ = 0;
  CacheCounts counts_;
};

}  // namespace

CacheCounts simulate_belady(const CacheTrace& trace, uint64_t capacity_bytes) {
  return Belady(trace, capacity_bytes).run();
}

}  // namespace cellar
