// Goal: simulations of caches are right. Method: LRU is compared with stack distances. Belady's optimum is
// compared with all ways to evict and with every policy. Each policy is compared with the real cache.
#include "tools/simulate/cache_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/plugins.h"
#include "base/random.h"
#include "cache/block_cache.h"
#include "cellar/cache_policy.h"
#include "cellar/plugin.h"
#include "tests/support/test_scale.h"
#include "tools/simulate/belady.h"
#include "tools/simulate/simulate_cache.h"

namespace cellar::testing {
namespace {

// Asks for the blocks with these numbers; block n has bytes[n] bytes, or 1.
CacheTrace trace_of(const std::vector<uint32_t>& asked, const std::vector<uint64_t>& bytes = {}) {
  CacheTrace trace;
  for (const uint32_t number : asked) {
    while (trace.blocks.size() <= number) {
      const size_t at = trace.blocks.size();
      trace.blocks.push_back({.id = at + 1, .bytes = at < bytes.size() ? bytes[at] : 1});
    }
    trace.uses.push_back({.number = number, .kind = BlockUseKind::kMiss});
    ++trace.lookups;
  }
  return trace;
}

std::vector<uint32_t> skewed(uint64_t seed, size_t length, uint32_t count) {
  Random random(seed);
  std::vector<uint32_t> asked;
  while (asked.size() < length) {
    // A scan now and then; else small numbers more often than large ones.
    if (random.one_in(300)) {
      for (uint32_t i = 0; i < count / 2; ++i) asked.push_back(i);
    } else {
      asked.push_back(static_cast<uint32_t>(std::pow(random.unit(), 3) * count));
    }
  }
  asked.resize(length);
  return asked;
}

std::vector<std::string> policies() {
  register_cache_plugins();
  return Registry<CachePolicy>::instance().names();
}

uint64_t hits(const CacheTrace& trace, const std::string& policy, uint64_t capacity) {
  const Result<CacheCounts> counts = simulate_policy(trace, policy, capacity);
  EXPECT_TRUE(counts.ok()) << counts.status().to_text();
  return counts->hits;
}

// Mattson, Gecsei, Slutz and Traiger, 1970: count the blocks that were used since the last use of a block,
// itself included. The lookup hits in every LRU cache with room for so many.
TEST(CacheSimulation, LruHasTheCurveOfStackDistances) {
  const std::vector<uint32_t> asked = skewed(3, static_cast<size_t>(30'000 * test_scale()), 300);
  std::map<size_t, uint64_t> by_distance;
  std::vector<uint32_t> stack;  // the last one used is the last
  for (const uint32_t number : asked) {
    const auto at = std::ranges::find(stack, number);
    if (at != stack.end()) {
      ++by_distance[static_cast<size_t>(stack.end() - at)];
      stack.erase(at);
    }
    stack.push_back(number);
  }
  const CacheTrace trace = trace_of(asked);
  uint64_t expected = 0;
  for (size_t capacity = 1; capacity <= 300; ++capacity) {
    expected += by_distance[capacity];
    if (capacity % 7 == 1) {
      EXPECT_EQ(hits(trace, "lru", capacity), expected) << capacity;
    }
  }
}

// All ways to choose victims, by trying them.
uint64_t most_hits(const std::vector<uint32_t>& asked, size_t at, const std::set<uint32_t>& cached,
                   size_t capacity, std::map<std::pair<size_t, std::set<uint32_t>>, uint64_t>& known) {
  if (at == asked.size()) return 0;
  const auto [entry, added] = known.try_emplace({at, cached}, 0);
  if (!added) return entry->second;
  uint64_t most = 0;
  if (cached.contains(asked[at])) {
    most = 1 + most_hits(asked, at + 1, cached, capacity, known);
  } else {
    std::set<uint32_t> with = cached;
    with.insert(asked[at]);
    if (with.size() <= capacity)
      most = most_hits(asked, at + 1, with, capacity, known);
    else
      for (const uint32_t victim : cached) {
        std::set<uint32_t> without = with;
        without.erase(victim);
        most = std::max(most, most_hits(asked, at + 1, without, capacity, known));
      }
  }
  return known[{at, cached}] = most;
}

TEST(CacheSimulation, BeladyIsTheOptimum) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint32_t> asked;
    for (int i = 0; i < 16; ++i) asked.push_back(static_cast<uint32_t>(random.below(6)));
    for (const size_t capacity : {1, 2, 3, 4}) {
      std::map<std::pair<size_t, std::set<uint32_t>>, uint64_t> known;
      EXPECT_EQ(simulate_belady(trace_of(asked), capacity).hits, most_hits(asked, 0, {}, capacity, known));
    }
  }
}

TEST(CacheSimulation, NoPolicyBeatsBelady) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<uint32_t> asked = skewed(seed, static_cast<size_t>(20'000 * test_scale()), 500);
    const CacheTrace trace = trace_of(asked);
    for (const uint64_t capacity : {5, 50, 100, 250, 450}) {
      const CacheCounts best = simulate_belady(trace, capacity);
      EXPECT_GT(best.hits, 0u);
      for (const std::string& policy : policies())
        EXPECT_LE(hits(trace, policy, capacity), best.hits) << policy << ", capacity " << capacity;
    }
    const uint64_t all = asked.size() - std::set<uint32_t>(asked.begin(), asked.end()).size();
    EXPECT_EQ(simulate_belady(trace, 500).hits, all);
    for (const std::string& policy : policies()) EXPECT_EQ(hits(trace, policy, 500), all) << policy;
  }
}

// The same lookups in a real cache of one shard. Sizes differ, and some families are in memory.
TEST(CacheSimulation, AgreesWithTheRealCache) {
  Random random(9);
  std::vector<uint64_t> bytes;
  for (int i = 0; i < 400; ++i) bytes.push_back(1 + random.below(100));
  CacheTrace trace = trace_of(skewed(4, static_cast<size_t>(20'000 * test_scale()), 400), bytes);
  for (CacheTrace::Block& block : trace.blocks) block.in_memory = random.one_in(10);
  for (const std::string& policy : policies()) {
    for (const uint64_t capacity : {90, 1000, 8000}) {
      const auto cache = BlockCache::create(capacity, policy, 1).value();
      std::vector<BlockSlot> slots(trace.blocks.size());
      CacheCounts real;
      for (const CacheTrace::Use& use : trace.uses) {
        const CacheTrace::Block& block = trace.blocks[use.number];
        if (cache->lookup(slots[use.number])) {
          ++real.hits;
          real.hit_bytes += block.bytes;
        } else {
          auto* const made = new CachedBlock(block.bytes, block.in_memory);
          made->set_id(block.id);
          cache->insert(slots[use.number], made);
        }
      }
      real.evictions = cache->stats().evictions;
      for (BlockSlot& slot : slots) cache->erase(slot);
      EXPECT_EQ(simulate_policy(trace, policy, capacity).value(), real) << policy << ", " << capacity;
    }
  }
}

// Blocks that are passed, loaded and closed; by LRU and by Belady.
TEST(CacheSimulation, HeedsTheKindsOfUses) {
  using enum BlockUseKind;
  CacheTrace trace = trace_of({0, 1, 2});
  trace.files = {{0, 1}};
  trace.uses = {{.number = 0, .kind = kMiss},    // in: 0
                {.number = 1, .kind = kPassed},  // not kept
                {.number = 1, .kind = kPassed},  // misses again
                {.number = 1, .kind = kLoaded},  // there is room: 0 1
                {.number = 1, .kind = kMiss},    // a hit
                {.number = 2, .kind = kLoaded},  // there is no room
                {.number = 2, .kind = kHit},     // misses, in: 1 2, or 0 2
                {.number = 0, .kind = kClosed},  // file 0: 0 and 1 leave
                {.number = 2, .kind = kPassed},  // a hit
                {.number = 1, .kind = kMiss}};
  const CacheCounts lru = simulate_policy(trace, "lru", 2).value();
  EXPECT_EQ(lru, (CacheCounts{.hits = 2, .hit_bytes = 2, .evictions = 1}));
  const CacheCounts best = simulate_belady(trace, 2);
  EXPECT_EQ(best, (CacheCounts{.hits = 2, .hit_bytes = 2, .evictions = 1}));
}

TEST(CacheSimulation, HandlesEmptyTracesAndTinyCaches) {
  const CacheTrace nothing = trace_of({});
  const CacheTrace few = trace_of({0, 0, 1, 0}, {5, 7});
  for (const std::string& policy : policies()) {
    EXPECT_EQ(hits(nothing, policy, 100), 0u);
    EXPECT_EQ(hits(few, policy, 0), 0u);
    EXPECT_EQ(hits(few, policy, 5), 2u) << "the larger block passes by";
  }
  EXPECT_EQ(simulate_belady(nothing, 100).hits, 0u);
  EXPECT_EQ(simulate_belady(few, 4).hits, 0u);
  EXPECT_EQ(simulate_belady(few, 5).hits, 2u);
  EXPECT_EQ(simulate_policy(few, "lru(x=1)", 5).status().code(), Code::kInvalidArgument);
}

TEST(CacheSizes, AreNumbersPartsAndRanges) {
  const auto sizes = [](const char* text) { return parse_cache_sizes(text, 1000).value(); };
  using Sizes = std::vector<uint64_t>;
  EXPECT_EQ(sizes("64m,1k"), (Sizes{1024, 64 << 20}));
  EXPECT_EQ(sizes("5%,50,5%"), (Sizes{50}));
  EXPECT_EQ(sizes("1%..10%"), (Sizes{10, 20, 40, 80, 100}));
  EXPECT_EQ(sizes("100..100"), (Sizes{100}));
  EXPECT_EQ(sizes("0.01%"), (Sizes{1}));
  for (const char* wrong : {"", "many", "5%..1%", "0..5", "-1%", "0%", "1%..", "..5", "x%"})
    EXPECT_EQ(parse_cache_sizes(wrong, 1000).status().code(), Code::kInvalidArgument) << wrong;
}

}  // namespace
}  // namespace cellar::testing
