// Goal: an object that a thread has written down is seen by all threads until the thread gives it back.
// Method: slots in one thread and in several; a storm of readers while a writer replaces and deletes objects.
#include "base/hazards.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "base/recycled.h"

namespace cellar {
namespace {

struct Thing {
  explicit Thing(uint64_t value_) : value(value_), check(~value_) {}
  uint64_t value;
  uint64_t check;
};

TEST(Hazards, AnObjectIsHeldUntilItIsGivenBack) {
  const Thing one(1);
  const Thing two(2);
  std::atomic<const Thing*> current{&one};
  HazardSlot slot;
  ASSERT_TRUE(slot.take());
  EXPECT_EQ(slot.protect(current), &one);
  current.store(&two);
  EXPECT_TRUE(HazardSlot::any_holds(&one));
  EXPECT_FALSE(HazardSlot::any_holds(&two));
  slot.give_back();
  EXPECT_FALSE(HazardSlot::any_holds(&one));
  slot.give_back();  // has no effect
  EXPECT_FALSE(slot.is_taken());
}

TEST(Hazards, AThreadHasFewSlots) {
  const Thing thing(1);
  const std::atomic<const Thing*> current{&thing};
  std::deque<HazardSlot> slots(HazardSlot::kPerThread + 1);
  for (size_t i = 0; i < HazardSlot::kPerThread; ++i) {
    ASSERT_TRUE(slots[i].take());
    slots[i].protect(current);
  }
  EXPECT_FALSE(slots.back().take());
  slots[3].give_back();
  EXPECT_TRUE(slots.back().take());
  slots.clear();
  EXPECT_FALSE(HazardSlot::any_holds(&thing));
}

TEST(Hazards, AThreadThatEndsLeavesNothing) {
  const Thing thing(1);
  const std::atomic<const Thing*> current{&thing};
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      HazardSlot slot;
      ASSERT_TRUE(slot.take());
      slot.protect(current);
      EXPECT_TRUE(HazardSlot::any_holds(&thing));
    }).join();
    EXPECT_FALSE(HazardSlot::any_holds(&thing));
  }
}

TEST(Hazards, ReadersNeverSeeADeletedObject) {
  std::atomic<const Thing*> current{new Thing(0)};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop.load()) {
        HazardSlot slot;
        ASSERT_TRUE(slot.take());
        const Thing* thing = slot.protect(current);
        ASSERT_EQ(thing->check, ~thing->value);
        reads.fetch_add(1);
      }
    });
  }
  std::vector<Thing*> replaced;
  for (uint64_t i = 1; i < 20000 || reads.load() < 1000; ++i) {
    replaced.push_back(const_cast<Thing*>(current.exchange(new Thing(i))));
    std::erase_if(replaced, [](Thing* thing) {
      if (HazardSlot::any_holds(thing)) return false;
      thing->check = thing->value;  // what a late reader would find
      delete thing;
      return true;
    });
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  for (const Thing* thing : replaced) delete thing;
  delete current.load();
}

struct Short final : Recycled<Short> {
  uint64_t words[5] = {};
};

TEST(Recycled, ObjectsComeAndGoInAnyOrderOnAnyThread) {
  std::vector<std::unique_ptr<Short>> objects;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) {
      objects.push_back(std::make_unique<Short>());
      EXPECT_EQ(objects.back()->words[4], 0u) << "constructed anew";
      objects.back()->words[4] = 7;
    }
    for (size_t i = 0; i < objects.size(); ++i)
      for (size_t j = 0; j < i; ++j) ASSERT_NE(objects[i].get(), objects[j].get());
    objects.erase(objects.begin(), objects.begin() + 13);
    std::thread([&] { objects.clear(); }).join();
  }
}

TEST(Recycled, ArraysComeAndGoInAnyOrderOnAnyThread) {
  using Numbers = std::vector<uint64_t, RecycledAllocator<uint64_t>>;
  std::vector<Numbers> arrays;
  for (uint64_t round = 0; round < 200; ++round) {
    arrays.emplace_back(round * 7 % 700, round);  // up to 5,600 bytes: some are too large for the lists
    if (round % 3 == 0) arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(arrays.size() / 2));
    if (round % 50 == 49) std::thread([&] { arrays.resize(arrays.size() / 2); }).join();
    for (const Numbers& array : arrays)
      for (const uint64_t number : array) ASSERT_EQ(number, array.front());
  }
}

TEST(Recycled, AThreadKeepsFewArraysOfEachSize) {
  for (const size_t bytes : {size_t{1}, size_t{64}, size_t{65}, size_t{4096}, size_t{5000}}) {
    std::vector<void*> pieces;
    for (size_t i = 0; i < 3 * RecycledBytes::kKept; ++i) pieces.push_back(RecycledBytes::take(bytes));
    for (void* piece : pieces) {
      std::memset(piece, 1, bytes);
      RecycledBytes::give_back(piece, bytes);
    }
    EXPECT_LE(RecycledBytes::kept(bytes), RecycledBytes::kKept) << bytes;
    EXPECT_EQ(RecycledBytes::kept(5000), 0u);
  }
}

}  // namespace
}  // namespace cellar
