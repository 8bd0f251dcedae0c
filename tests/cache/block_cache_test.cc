// Goal: the cache keeps its budget, hands out each block once, and never frees one that somebody has pinned.
// Method: blocks that count their lives and hold recognisable words; small caches of one shard; then threads
// at random.
#include "cache/block_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/block_heap.h"
#include "base/random.h"
#include "base/recycled.h"

namespace cellar::testing {
namespace {

// A block whose content tells which slot it was made for, and that it is alive.
class NumberedBlock final : public CachedBlock {
 public:
  NumberedBlock(uint64_t number, uint64_t charge_bytes, std::atomic<int>* alive)
      : CachedBlock(charge_bytes), number_(number), words_(8, number), alive_(alive) {
    alive_->fetch_add(1);
  }
  ~NumberedBlock() override {
    number_ = ~uint64_t{0};
    alive_->fetch_sub(1);
  }
  bool is(uint64_t number) const {
    for (const uint64_t word : words_) {
      if (word != number) return false;
    }
    return number_ == number;
  }

 private:
  uint64_t number_;
  std::vector<uint64_t> words_;
  std::atomic<int>* alive_;
};

bool holds(const Pin& pin, uint64_t number) {
  return pin && static_cast<const NumberedBlock*>(pin.get())->is(number);
}

std::shared_ptr<BlockCache> make_cache(uint64_t bytes, const std::string& policy, uint32_t shards = 1) {
  Result<std::shared_ptr<BlockCache>> cache = BlockCache::create(bytes, policy, shards);
  EXPECT_TRUE(cache.ok()) << cache.status().to_text();
  return cache.value();
}

class BlockCacheTest : public ::testing::TestWithParam<std::string> {
 protected:
  ~BlockCacheTest() override { EXPECT_EQ(alive_, 0); }

  NumberedBlock* block(uint64_t number, uint64_t charge_bytes = 100) {
    return new NumberedBlock(number, charge_bytes, &alive_);
  }
  void erase_all() {
    for (BlockSlot& slot : slots_) cache_->erase(slot);
  }

  std::atomic<int> alive_{0};
  std::shared_ptr<BlockCache> cache_;
  std::array<BlockSlot, 64> slots_;
};

TEST_P(BlockCacheTest, FindsWhatWasInserted) {
  cache_ = make_cache(1000, GetParam());
  EXPECT_FALSE(cache_->lookup(slots_[0]));
  EXPECT_TRUE(holds(cache_->insert(slots_[0], block(7)), 7));
  EXPECT_TRUE(holds(cache_->lookup(slots_[0]), 7));
  EXPECT_FALSE(cache_->lookup(slots_[1]));
  const BlockCacheStats stats = cache_->stats();
  EXPECT_EQ(stats.capacity_bytes, 1000u);
  EXPECT_EQ(stats.used_bytes, 100u);
  EXPECT_EQ(stats.blocks, 1u);
  EXPECT_EQ(stats.inserts, 1u);
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 2u);
  erase_all();
  EXPECT_FALSE(cache_->lookup(slots_[0]));
  EXPECT_EQ(cache_->stats().used_bytes, 0u);
}

TEST_P(BlockCacheTest, TheFirstInserterWins) {
  cache_ = make_cache(1000, GetParam());
  EXPECT_TRUE(holds(cache_->insert(slots_[0], block(1)), 1));
  EXPECT_TRUE(holds(cache_->insert(slots_[0], block(2)), 1));
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(cache_->stats().blocks, 1u);
  erase_all();
}

TEST_P(BlockCacheTest, APinOutlivesSlotAndCache) {
  cache_ = make_cache(1000, GetParam());
  Pin first = cache_->insert(slots_[0], block(3));
  Pin second = cache_->lookup(slots_[0]);
  cache_->erase(slots_[0]);
  cache_.reset();
  EXPECT_TRUE(holds(first, 3));
  first.reset();
  EXPECT_TRUE(holds(second, 3));
  EXPECT_EQ(alive_, 1);
}

TEST_P(BlockCacheTest, TheEndOfTheCacheEmptiesSlots) {
  cache_ = make_cache(1000, GetParam());
  for (uint64_t i = 0; i < 5; ++i) cache_->insert(slots_[i], block(i, i == 2 ? 0 : 100));
  cache_.reset();
  EXPECT_EQ(alive_, 0);
}

TEST_P(BlockCacheTest, StaysWithinItsBudget) {
  cache_ = make_cache(1000, GetParam());
  Random random(11);
  for (int i = 0; i < 5000; ++i) {
    const uint64_t at = random.below(slots_.size());
    Pin pin = cache_->lookup(slots_[at]);
    if (!pin) pin = cache_->insert(slots_[at], block(at, 1 + random.below(300)));
    EXPECT_TRUE(holds(pin, at));
    ASSERT_LE(cache_->stats().used_bytes, 1000u);
    if (random.one_in(20)) cache_->erase(slots_[random.below(slots_.size())]);
  }
  EXPECT_GT(cache_->stats().evictions, 100u);
  erase_all();
}

TEST_P(BlockCacheTest, InsertsWhereThereIsRoomAndEvictsNobodyForIt) {
  cache_ = make_cache(1000, GetParam());
  EXPECT_FALSE(cache_->holds(slots_[0]));
  EXPECT_TRUE(holds(cache_->insert_if_room(slots_[0], block(1, 600)), 1));
  EXPECT_TRUE(cache_->holds(slots_[0]));
  EXPECT_FALSE(cache_->insert_if_room(slots_[1], block(2, 401)));
  EXPECT_FALSE(cache_->holds(slots_[1]));
  EXPECT_EQ(alive_, 1) << "what found no room is gone";
  EXPECT_TRUE(holds(cache_->insert_if_room(slots_[0], block(3, 700)), 1)) << "it is there already";
  EXPECT_EQ(alive_, 1);
  EXPECT_TRUE(cache_->has_room_for_pinned(399));
  EXPECT_FALSE(cache_->has_room_for_pinned(400));
  EXPECT_TRUE(holds(cache_->insert_if_room(slots_[1], block(2, 400)), 2));
  EXPECT_FALSE(cache_->has_room_for_pinned(0));
  EXPECT_FALSE(cache_->insert_if_room(slots_[2], block(4, 1001)));
  const BlockCacheStats stats = cache_->stats();
  EXPECT_EQ(stats.evictions, 0u);
  EXPECT_EQ(stats.inserts, 2u);
  EXPECT_EQ(stats.hits + stats.misses, 0u) << "holds() is no use of a block";
  erase_all();
  EXPECT_FALSE(make_cache(0, GetParam())->insert_if_room(slots_[0], block(1)));
}

TEST_P(BlockCacheTest, PassesByWhatDoesNotFit) {
  cache_ = make_cache(1000, GetParam(), 2);
  EXPECT_TRUE(holds(cache_->insert(slots_[0], block(1, 501)), 1));
  EXPECT_EQ(alive_, 0);
  EXPECT_FALSE(cache_->lookup(slots_[0]));
  EXPECT_TRUE(holds(cache_->insert(slots_[0], block(1, 500)), 1));
  EXPECT_TRUE(cache_->lookup(slots_[0]));

  auto nothing = make_cache(0, GetParam());
  EXPECT_TRUE(holds(nothing->insert(slots_[1], block(1)), 1));
  EXPECT_FALSE(nothing->lookup(slots_[1]));
  erase_all();
}

TEST_P(BlockCacheTest, PinnedChargesLeaveLessRoom) {
  cache_ = make_cache(1000, GetParam());
  for (uint64_t i = 0; i < 10; ++i) cache_->insert(slots_[i], block(i));
  EXPECT_EQ(cache_->stats().used_bytes, 1000u);
  cache_->charge_pinned(250);
  EXPECT_EQ(cache_->stats().used_bytes, 700u);
  EXPECT_EQ(cache_->stats().pinned_bytes, 250u);
  EXPECT_EQ(cache_->stats().evictions, 3u);
  cache_->charge_pinned(2000);
  EXPECT_EQ(cache_->stats().used_bytes, 0u);
  EXPECT_TRUE(holds(cache_->insert(slots_[0], block(0)), 0));
  EXPECT_EQ(cache_->stats().used_bytes, 0u);
  cache_->charge_pinned(-2250);
  cache_->insert(slots_[0], block(0));
  EXPECT_EQ(cache_->stats().used_bytes, 100u);
  erase_all();
}

// The heap of the blocks has holes between pieces that others hold: the blocks' share of them is memory, too.
TEST_P(BlockCacheTest, FreeMemoryBetweenBlocksCountsWhereItIsMoreThanTheirCharge) {
  cache_ = make_cache(1000, GetParam());
  for (uint64_t i = 0; i < 10; ++i) cache_->insert(slots_[i], block(i));
  EXPECT_EQ(cache_->stats().used_bytes, 1000u);
  BlockHeap& heap = BlockHeap::shared();
  std::vector<void*> others;
  for (int i = 0; i < 40'000; ++i) {
    others.push_back(heap.take(300));
    std::memset(others.back(), 1, 300);
  }
  EXPECT_EQ(cache_->stats().used_bytes, 1000u);
  for (size_t i = 0; i < others.size(); i += 2) heap.give_back(others[i]);
  // A heap whose memory is a sanitizer's knows of no free memory.
  EXPECT_EQ(cache_->stats().used_bytes > 1500u, kKeepsMemory) << "half of the memory is free";
  EXPECT_FALSE(cache_->has_room_for_pinned(1));
  cache_->insert(slots_[10], block(10));
  EXPECT_GE(cache_->stats().evictions, kKeepsMemory ? 4u : 1u);
  EXPECT_LE(cache_->stats().used_bytes, 1000u);
  EXPECT_GE(cache_->stats().blocks, 3u);
  for (size_t i = 1; i < others.size(); i += 2) heap.give_back(others[i]);
  for (uint64_t i = 0; i < 10; ++i) cache_->insert(slots_[i], block(i));
  EXPECT_EQ(cache_->stats().used_bytes, 1000u);
  erase_all();
}

// More pins through one slot than its 16 bits can count.
TEST_P(BlockCacheTest, FoldsItsCountBeforeItOverflows) {
  cache_ = make_cache(1000, GetParam());
  constexpr size_t kPins = 200'000;
  std::vector<Pin> pins;
  pins.reserve(kPins);
  pins.push_back(cache_->insert(slots_[0], block(5)));
  while (pins.size() < kPins) pins.push_back(cache_->lookup(slots_[0]));
  // All released while it is in the cache, and all over again.
  pins.clear();
  EXPECT_TRUE(holds(cache_->lookup(slots_[0]), 5));
  while (pins.size() < kPins) pins.push_back(cache_->lookup(slots_[0]));
  cache_->erase(slots_[0]);
  for (size_t i = 0; i + 1 < kPins; ++i) pins[i].reset();
  EXPECT_TRUE(holds(pins.back(), 5));
}

// Threads look up, insert, erase and keep pins for a while; whatever they hold must be what they asked for.
TEST_P(BlockCacheTest, SurvivesAStorm) {
  cache_ = make_cache(2400, GetParam(), 2);
  std::atomic<uint64_t> wrong{0};
  const auto work = [&](uint64_t seed) {
    Random random(seed);
    std::array<std::pair<Pin, uint64_t>, 16> kept;
    int64_t pinned = 0;  // charged by this thread; the four charge at most half the capacity
    for (int i = 0; i < 30'000; ++i) {
      const uint64_t at = random.below(slots_.size());
      Pin pin = cache_->lookup(slots_[at]);
      if (!pin) pin = cache_->insert(slots_[at], block(at, 50 + random.below(100)));
      auto& place = kept[random.below(kept.size())];
      if (place.first && !holds(place.first, place.second)) wrong.fetch_add(1);
      place = {std::move(pin), at};
      if (random.one_in(50)) cache_->erase(slots_[random.below(slots_.size())]);
      if (random.one_in(500)) {
        const auto charge = static_cast<int64_t>(random.below(300));
        cache_->charge_pinned(charge - pinned);
        pinned = charge;
      }
      if (random.one_in(500) && cache_->stats().used_bytes > 2400) wrong.fetch_add(1);
    }
    for (auto& place : kept) {
      if (place.first && !holds(place.first, place.second)) wrong.fetch_add(1);
    }
    cache_->charge_pinned(-pinned);
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  erase_all();
  EXPECT_EQ(cache_->stats().used_bytes, 0u);
  EXPECT_EQ(cache_->stats().blocks, 0u);
  cache_.reset();
}

// Many pins through one slot at once, folded while others come and go.
TEST_P(BlockCacheTest, FoldsWhileOthersPin) {
  cache_ = make_cache(1000, GetParam());
  cache_->insert(slots_[0], block(9));
  std::atomic<uint64_t> wrong{0};
  std::atomic<bool> stop{false};
  const auto pinner = [&] {
    std::vector<Pin> pins;
    for (int i = 0; i < 200'000; ++i) {
      Pin pin = cache_->lookup(slots_[0]);
      if (!pin) pin = cache_->insert(slots_[0], block(9));
      if (!holds(pin, 9)) wrong.fetch_add(1);
      pins.push_back(std::move(pin));
      if (pins.size() == 9000) pins.clear();
    }
  };
  std::thread eraser([&] {
    while (!stop) {
      cache_->erase(slots_[0]);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(pinner);
  for (std::thread& thread : threads) thread.join();
  stop = true;
  eraser.join();
  EXPECT_EQ(wrong, 0u);
  erase_all();
  cache_.reset();
}

INSTANTIATE_TEST_SUITE_P(Policies, BlockCacheTest,
                         ::testing::Values("clock", "lru", "slru", "sieve", "s3fifo",
                                           "s3fifo(counting=false)", "w_tinylfu", "arc"));

TEST(BlockCache, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(BlockCache::create(1, "klock", 1).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(BlockCache::create(1, "lru(x=1)", 1).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(BlockCache::create(1, "lru", 100'000).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace cellar::testing
