// CacheSimulation: the steps of the block cache around a policy, without blocks, slots and threads.
#include "tools/simulate/cache_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "base/plugins.h"
#include "cellar/cache_policy.h"

namespace cellar {
namespace {

// Gathers uses, and gives numbers to blocks and files.
class TraceBuilder {
 public:
  explicit TraceBuilder(CacheTrace& trace) : trace_(trace) {}

  Status add(const BlockUse& use) {
    trace_.duration_us = use.time_us;
    if (use.kind == BlockUseKind::kClosed) return close_file(use.id >> kBlockIdFileShift);
    CELLAR_TRY_ASSIGN(const uint32_t number, number_of(use));
    trace_.uses.push_back({.number = number, .kind = use.kind, .time_us = use.time_us});
    if (use.kind == BlockUseKind::kLoaded) return {};
    ++trace_.lookups;
    trace_.used_bytes += use.bytes;
    if (use.kind != BlockUseKind::kHit) return {};
    ++trace_.hits;
    trace_.hit_bytes += use.bytes;
    return {};
  }

 private:
  Result<uint32_t> number_of(const BlockUse& use) {
    const auto [at, added] = numbers_.try_emplace(use.id, static_cast<uint32_t>(trace_.blocks.size()));
    if (!added) return at->second;
    if (trace_.blocks.size() >= UINT32_MAX - 1)
      return Status::limit(fmt::format("{} has more than {} blocks", trace_.name, UINT32_MAX - 1));
    trace_.blocks.push_back({.id = use.id, .bytes = use.bytes, .in_memory = use.in_memory});
    trace_.distinct_bytes += use.bytes;
    of_file_[use.id >> kBlockIdFileShift].push_back(at->second);
    return at->second;
  }

  Status close_file(uint64_t file) {
    const auto blocks = of_file_.find(file);
    if (blocks == of_file_.end()) return {};  // none of its blocks was used
    trace_.uses.push_back({.number = static_cast<uint32_t>(trace_.files.size()),
                           .kind = BlockUseKind::kClosed,
                           .time_us = trace_.duration_us});
    for (const uint32_t number : blocks->second) numbers_.erase(trace_.blocks[number].id);
    trace_.files.push_back(std::move(blocks->second));
    of_file_.erase(blocks);
    return {};
  }

  CacheTrace& trace_;
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> of_file_;
};

struct SimulatedBlock final : CacheEntry {
  bool touched = false;
  bool present = false;
  bool take_touched() override { return std::exchange(touched, false); }
};

// The steps of BlockCache::lookup, put and erase.
class SimulatedCache {
 public:
  SimulatedCache(const CacheTrace& trace, std::unique_ptr<CachePolicy> policy, uint64_t capacity_bytes)
      : trace_(trace),
        policy_(std::move(policy)),
        wants_hits_(policy_->wants_hits()),
        capacity_(capacity_bytes),
        blocks_(trace.blocks.size()) {
    for (size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].id = trace.blocks[i].id;
      blocks_[i].charge = trace.blocks[i].bytes;
      blocks_[i].in_memory = trace.blocks[i].in_memory;
    }
    policy_->set_capacity(capacity_);
  }

  CacheCounts run() {
    for (const CacheTrace::Use& use : trace_.uses) step(use);
    return counts_;
  }

 private:
  void step(const CacheTrace::Use& use) {
    if (use.kind == BlockUseKind::kClosed) {
      for (const uint32_t number : trace_.files[use.number]) erase(blocks_[number]);
      return;
    }
    SimulatedBlock& block = blocks_[use.number];
    if (use.kind == BlockUseKind::kLoaded) {
      if (!block.present && fits(block)) insert(block);
    } else if (block.present) {
      hit(block);
    } else if (use.kind != BlockUseKind::kPassed && block.charge <= capacity_) {
      insert(block);
    }
  }

  bool fits(const SimulatedBlock& block) const {
    return block.charge <= capacity_ && used_ <= capacity_ - block.charge;
  }

  void hit(SimulatedBlock& block) {
    block.touched = true;
    CacheEntry* const entry = &block;
    if (wants_hits_) policy_->hits(&entry, 1);
    ++counts_.hits;
    counts_.hit_bytes += block.charge;
  }

  void insert(SimulatedBlock& block) {
    block.policy_word = 0;
    block.touched = false;
    policy_->arriving(block);
    while (!fits(block)) {
      auto* const victim = static_cast<SimulatedBlock*>(policy_->victim());
      CELLAR_ASSERT(victim != nullptr && victim->present);
      victim->present = false;
      used_ -= victim->charge;
      ++counts_.evictions;
    }
    block.present = true;
    used_ += block.charge;
    policy_->inserted(block);
  }

  void erase(SimulatedBlock& block) {
    if (!block.present) return;
    policy_->erased(block);
    block.present = false;
    used_ -= block.charge;
  }

  const CacheTrace& trace_;
  const std::unique_ptr<CachePolicy> policy_;
  const bool wants_hits_;
  const uint64_t capacity_;
  std::vector<SimulatedBlock> blocks_;
  uint64_t used_ = 0;
  CacheCounts counts_;
};

}  // namespace

bool CacheTrace::equal_sizes() const {
  return std::ranges::all_of(blocks, [&](const Block& block) { return block.bytes == blocks[0].bytes; });
}

Result<CacheTrace> read_cache_trace(std::unique_ptr<ReadableFile> file, const std::string& name) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<BlockTraceReader> reader,
                    BlockTraceReader::open(std::move(file), name));
  CacheTrace trace;
  trace.name = name;
  trace.start = reader->start();
  TraceBuilder builder(trace);
  std::vector<BlockUse> uses;
  while (true) {
    CELLAR_TRY_ASSIGN(const bool found, reader->next(uses));
    if (!found) break;
    for (const BlockUse& use : uses) CELLAR_TRY(builder.add(use));
  }
  trace.whole = reader->whole();
  trace.torn_bytes = reader->torn_bytes();
  trace.lost = reader->lost();
  return trace;
}

Result<CacheCounts> simulate_policy(const CacheTrace& trace, const std::string& policy,
                                    uint64_t capacity_bytes) {
  register_cache_plugins();
  CELLAR_TRY_ASSIGN(std::unique_ptr<CachePolicy> made, Registry<CachePolicy>::instance().make(policy));
  return SimulatedCache(trace, std::move(made), capacity_bytes).run();
}

}  // namespace cellar
