// Goal: each policy finds exactly the blocks that its paper says. Method: each policy has a model that
// shares no code with it. Both answer the same lookups of blocks of equal size, the policy in a real cache
// of one shard. The lookups are Zipf's, scans with loops, phases, and a recorded trace. Each lookup must
// have the same answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/plugins.h"
#include "base/random.h"
#include "cache/block_cache.h"
#include "cache/block_trace.h"
#include "cellar/plugin.h"
#include "tests/cache/policy_models.h"
#include "tests/support/byte_files.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using Asked = std::vector<uint64_t>;

std::vector<bool> hits_of(const std::string& policy, const Asked& asked, size_t capacity) {
  const auto cache = BlockCache::create(capacity, policy, 1).value();
  std::vector<BlockSlot> slots(*std::ranges::max_element(asked) + 1);
  std::vector<bool> hits;
  for (const uint64_t number : asked) {
    hits.push_back(static_cast<bool>(cache->lookup(slots[number])));
    if (hits.back()) continue;
    auto* const block = new CachedBlock(1);
    block->set_id(number);
    cache->insert(slots[number], block);
  }
  for (BlockSlot& slot : slots) cache->erase(slot);
  return hits;
}

// Numbers from 0 to count - 1; the n-th is asked for with a probability in proportion to 1 / (n + 1)^skew.
Asked zipf(uint64_t seed, size_t length, size_t count, double skew) {
  std::vector<double> up_to;
  for (size_t i = 0; i < count; ++i)
    up_to.push_back((i == 0 ? 0 : up_to.back()) + std::pow(static_cast<double>(i + 1), -skew));
  Random random(seed);
  Asked asked;
  while (asked.size() < length) {
    const double at = random.unit() * up_to.back();
    asked.push_back(static_cast<uint64_t>(std::ranges::upper_bound(up_to, at) - up_to.begin()));
  }
  return asked;
}

// Hot blocks, and between them scans of all blocks and loops over a few.
Asked scans_and_loops(uint64_t seed, size_t length) {
  Random random(seed);
  Asked asked;
  while (asked.size() < length) {
    const uint64_t kind = random.below(3);
    const uint64_t begin = random.below(300);
    const uint64_t width = 10 + random.below(80);
    if (kind == 0)
      for (uint64_t i = 0; i < 200; ++i) asked.push_back(random.below(40));
    if (kind == 1)
      for (uint64_t i = 0; i < 150; ++i) asked.push_back(begin + i);
    if (kind == 2)
      for (uint64_t i = 0; i < 5 * width; ++i) asked.push_back(begin + i % width);
  }
  asked.resize(length);
  return asked;
}

// The hot blocks change now and then.
Asked phases(uint64_t seed, size_t length) {
  Asked asked = zipf(seed, length, 400, 1.1);
  for (size_t i = 0; i < asked.size(); ++i) asked[i] = (asked[i] + i / 2500 * 37) % 500;
  return asked;
}

class PolicyModels : public ::testing::TestWithParam<std::string> {
 protected:
  static void compare(Asked asked, const std::string& what) {
    for (uint64_t& number : asked) ++number;  // ids begin with 1
    for (const size_t capacity : {4, 8, 12, 52, 100, 200, 400}) {
      const std::vector<bool> expected = policy_models().at(GetParam())(asked, capacity);
      const std::vector<bool> found = hits_of(GetParam(), asked, capacity);
      const auto differs = std::ranges::mismatch(expected, found).in1 - expected.begin();
      ASSERT_EQ(expected, found) << what << ", capacity " << capacity << ": lookup " << differs
                                 << " of block " << asked[static_cast<size_t>(differs)] << " differs";
      EXPECT_GT(std::ranges::count(found, true), 0) << what << ": a test without hits says nothing";
    }
  }
  static size_t length() { return std::max<size_t>(1000, scaled(20'000)); }
};

TEST_P(PolicyModels, AgreeOnZipf) {
  for (const double skew : {0.6, 0.9, 1.2})
    compare(zipf(7, length(), 1000, skew), "skew " + std::to_string(skew));
}

TEST_P(PolicyModels, AgreeOnScansAndLoops) { compare(scans_and_loops(11, length()), "scans and loops"); }

TEST_P(PolicyModels, AgreeOnPhases) { compare(phases(13, length()), "phases"); }

// Requests of a web server: the gets of the first 4,000 lines of an access log, recorded by
// bench/cache_traces.py --loads weblog. Sizes are left out.
TEST_P(PolicyModels, AgreeOnARecordedTrace) {
  std::ostringstream bytes;
  bytes << std::ifstream(CELLAR_TEST_DATA_DIR "/cache/weblog.trace", std::ios::binary).rdbuf();
  const std::string content = bytes.str();
  const auto reader = BlockTraceReader::open(std::make_unique<ViewFile>(content), "weblog.trace");
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  std::map<uint64_t, uint64_t> numbers;
  Asked asked;
  std::vector<BlockUse> uses;
  while ((*reader)->next(uses).value()) {
    for (const BlockUse& use : uses)
      if (use.kind == BlockUseKind::kHit || use.kind == BlockUseKind::kMiss)
        asked.push_back(numbers.try_emplace(use.id, numbers.size()).first->second);
  }
  EXPECT_TRUE((*reader)->whole());
  EXPECT_GT(asked.size(), 4000u);
  compare(asked, "recorded");
}

std::vector<std::string> names_of_models() {
  std::vector<std::string> names;
  for (const auto& [name, model] : policy_models()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyModels, ::testing::ValuesIn(names_of_models()),
                         [](const auto& each) { return each.param; });

// A policy without a model would not be checked at all.
TEST(PolicyModels, EachPolicyHasOne) {
  register_cache_plugins();
  for (const std::string& name : Registry<CachePolicy>::instance().names())
    EXPECT_TRUE(name == "fifo" || policy_models().contains(name)) << name;
}

}  // namespace
}  // namespace cellar::testing
