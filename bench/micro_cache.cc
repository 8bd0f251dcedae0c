// The block cache, by policy and threads: a hit, and an insert that has to evict. Blocks hold nothing, so
// that the benchmark measures the cache and not the memory of blocks.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/plugins.h"
#include "base/random.h"
#include "bench/bed.h"
#include "cache/block_cache.h"

namespace cellar::bench {
namespace {

constexpr uint64_t kBlockBytes = 16384;
constexpr size_t kSlots = 4096;  // power of two

class EmptyBlock final : public CachedBlock {
 public:
  EmptyBlock() : CachedBlock(kBlockBytes) {}
};

struct CacheAndSlots {
  CacheAndSlots(const std::string& policy, uint64_t blocks) : slots(kSlots) {
    Result<std::shared_ptr<BlockCache>> made = BlockCache::create(blocks * kBlockBytes, policy, 0);
    if (!made.ok()) give_up(made.status());
    cache = *made;
  }
  ~CacheAndSlots() {
    for (BlockSlot& slot : slots) cache->erase(slot);
  }
  CacheAndSlots(const CacheAndSlots&) = delete;
  CacheAndSlots& operator=(const CacheAndSlots&) = delete;

  std::shared_ptr<BlockCache> cache;
  std::vector<BlockSlot> slots;
};

// Made and taken down by the first thread, outside the barriers that surround the loop.
std::unique_ptr<CacheAndSlots> shared;

void finish(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() != 0) return;
  const BlockCacheStats stats = shared->cache->stats();
  state.counters["evictions"] = static_cast<double>(stats.evictions);
  if (stats.used_bytes > stats.capacity_bytes) state.SkipWithError("the cache is over its budget");
  shared.reset();
}

void lookup_hit(benchmark::State& state, const std::string& policy) {
  if (state.thread_index() == 0) {
    shared = std::make_unique<CacheAndSlots>(policy, 2 * kSlots);
    for (BlockSlot& slot : shared->slots) shared->cache->insert(slot, new EmptyBlock);
  }
  Random random(static_cast<uint64_t>(state.thread_index()));
  uint64_t missed = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    if (!shared->cache->lookup(shared->slots[random.next() % kSlots])) ++missed;
  }
  if (missed > 0) state.SkipWithError("a block that was inserted is missing");
  finish(state);
}

// Room for a quarter of the blocks that are asked for, in turn: each miss evicts.
void insert_evict(benchmark::State& state, const std::string& policy) {
  if (state.thread_index() == 0) shared = std::make_unique<CacheAndSlots>(policy, kSlots / 4);
  size_t at = static_cast<size_t>(state.thread_index()) * kSlots / 2;
  for (auto unused : state) {
    static_cast<void>(unused);
    BlockSlot& slot = shared->slots[at++ % kSlots];
    Pin pin = shared->cache->lookup(slot);
    if (!pin) pin = shared->cache->insert(slot, new EmptyBlock);
  }
  finish(state);
}

[[maybe_unused]] const bool registered_micro_cache = [] {
  register_cache_plugins();
  for (const std::string& policy : Registry<CachePolicy>::instance().names()) {
    for (const int threads : {1, 2}) {
      benchmark::RegisterBenchmark(fmt::format("cache/lookup_hit/policy:{}", policy).c_str(),
                                   [=](benchmark::State& state) { lookup_hit(state, policy); })
          ->Threads(threads)
          ->UseRealTime();
      benchmark::RegisterBenchmark(fmt::format("cache/insert_evict/policy:{}", policy).c_str(),
                                   [=](benchmark::State& state) { insert_evict(state, policy); })
          ->Threads(threads)
          ->UseRealTime();
    }
  }
  return true;
}();

}  // namespace
}  // namespace cellar::bench
