// Goal: each policy evicts in the order its first line says.
// Method: a cache of one shard with room for four blocks; strings of what is done give the letters still
// there.
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <string>

#include "cache/block_cache.h"

namespace cellar::testing {
namespace {

// Runs `steps` and returns which blocks are in the cache afterwards, as a string. A letter inserts its block,
// or looks it up if it is there; capitals are in-memory blocks; "-x" erases.
std::string left_after(const std::string& policy, const std::string& steps) {
  auto cache = BlockCache::create(4, policy, 1).value();
  std::array<BlockSlot, 128> slots;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == '-') {
      cache->erase(slots[static_cast<size_t>(steps[++i])]);
      continue;
    }
    BlockSlot& slot = slots[static_cast<size_t>(steps[i])];
    const bool in_memory = std::isupper(static_cast<unsigned char>(steps[i])) != 0;
    if (!cache->lookup(slot)) cache->insert(slot, new CachedBlock(1, in_memory));
  }
  std::string left;
  for (char c = 'A'; c <= 'z'; ++c) {
    if (cache->lookup(slots[static_cast<size_t>(c)])) left += c;
  }
  cache.reset();
  return left;
}

TEST(Lru, TheLongestUnusedLeaves) {
  EXPECT_EQ(left_after("lru", "abcd"), "abcd");
  EXPECT_EQ(left_after("lru", "abcde"), "bcde");
  EXPECT_EQ(left_after("lru", "abcdae"), "acde");
  EXPECT_EQ(left_after("lru", "abcdabef"), "abef");
  EXPECT_EQ(left_after("lru", "abcdcbaef"), "abef");
}

TEST(Lru, InMemoryBlocksLeaveLast) {
  EXPECT_EQ(left_after("lru", "Aabcd"), "Abcd");
  EXPECT_EQ(left_after("lru", "ABabcdef"), "ABef");
  EXPECT_EQ(left_after("lru", "ABCDE"), "BCDE");
  EXPECT_EQ(left_after("lru", "ABCDAE"), "ACDE");
}

TEST(Lru, ErasedBlocksAreForgotten) {
  EXPECT_EQ(left_after("lru", "abcd-be"), "acde");
  EXPECT_EQ(left_after("lru", "abcd-ae-ffg"), "defg");
}

TEST(Clock, TheUnusedLeaveFirst) {
  EXPECT_EQ(left_after("clock", "abcd"), "abcd");
  EXPECT_EQ(left_after("clock", "abcde"), "bcde");
  // a was used: the hand passes it, clears its mark and takes b; then c, d.
  EXPECT_EQ(left_after("clock", "abcdae"), "acde");
  EXPECT_EQ(left_after("clock", "abcdaefg"), "aefg");
  // All were used: after one round the hand takes the first.
  EXPECT_EQ(left_after("clock", "abcdabcde"), "bcde");
}

TEST(Clock, InMemoryBlocksLeaveLast) {
  EXPECT_EQ(left_after("clock", "Aabcd"), "Abcd");
  EXPECT_EQ(left_after("clock", "ABaaaabcdef"), "ABef");
  EXPECT_EQ(left_after("clock", "ABCDE"), "BCDE");
}

TEST(Clock, ErasedBlocksAreForgotten) { EXPECT_EQ(left_after("clock", "abcd-a-cefg"), "defg"); }

TEST(Clock, AScanDrivesOutOnlyItself) { EXPECT_EQ(left_after("clock", "abccdefghccijklc"), "cjkl"); }

}  // namespace
}  // namespace cellar::testing
