// Goal: the cache policy that docs/adding_a_plugin.md shows works as it says. Method: the page shows
// policy_fifo.cc of this folder, word for word. A test of the documents compares them. Here a cache of one
// shard with room for three blocks uses the policy.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "cache/block_cache.h"

namespace cellar {

void cellar_plugin_cache_policy_fifo();

namespace testing {
namespace {

TEST(ExamplePolicy, TheFirstToComeIsTheFirstToLeave) {
  cellar_plugin_cache_policy_fifo();
  auto cache = BlockCache::create(3, "fifo", 1).value();
  std::array<BlockSlot, 6> slots;
  const auto touch = [&](size_t i, bool in_memory) {
    if (!cache->lookup(slots[i])) cache->insert(slots[i], new CachedBlock(1, in_memory));
  };
  touch(0, true);
  touch(1, false);
  touch(2, false);
  touch(1, false);  // being used does not help
  touch(3, false);
  std::string left;
  for (BlockSlot& slot : slots) left += cache->lookup(slot) ? '1' : '0';
  EXPECT_EQ(left, "101100");
  cache->erase(slots[2]);
  touch(4, false);
  touch(5, false);
  left.clear();
  for (BlockSlot& slot : slots) left += cache->lookup(slot) ? '1' : '0';
  EXPECT_EQ(left, "100011");
  cache.reset();
}

}  // namespace
}  // namespace testing
}  // namespace cellar
