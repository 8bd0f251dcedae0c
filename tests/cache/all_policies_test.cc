// Goal: every registered policy keeps the contract of CachePolicy. Method: random arrivals, hits, erasures
// and changes of capacity, with blocks of unequal size. The test knows which entries the policy has: each
// must come back exactly once. The ghosts are watched by the memory that the policy holds.
#include <gtest/gtest.h>

#include <malloc.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/plugins.h"
#include "base/random.h"
#include "cellar/cache_policy.h"
#include "cellar/plugin.h"
#include "tests/support/address_space.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

struct Entry final : CacheEntry {
  bool touched = false;
  bool take_touched() override { return std::exchange(touched, false); }
};

std::unique_ptr<CachePolicy> make(const std::string& text) {
  Result<std::unique_ptr<CachePolicy>> made = Registry<CachePolicy>::instance().make(text);
  EXPECT_TRUE(made.ok()) << made.status().to_text();
  return std::move(*made);
}

class AllPolicies : public ::testing::TestWithParam<std::string> {
 protected:
  void start(uint64_t capacity) {
    capacity_ = capacity;
    policy_ = make(GetParam());
    policy_->set_capacity(capacity);
  }

  void evict() {
    auto* const victim = static_cast<Entry*>(policy_->victim());
    ASSERT_NE(victim, nullptr) << "the policy lost " << present_.size() << " entries";
    ASSERT_EQ(present_.count(victim->id), 1u) << "a victim that is not in the cache";
    ASSERT_EQ(present_[victim->id].get(), victim);
    used_ -= victim->charge;
    present_.erase(victim->id);
    ++evictions_;
  }

  void insert(uint64_t id, uint64_t charge, bool in_memory) {
    auto entry = std::make_unique<Entry>();
    entry->id = id;
    entry->charge = charge;
    entry->in_memory = in_memory;
    policy_->arriving(*entry);
    while (used_ + charge > capacity_) ASSERT_NO_FATAL_FAILURE(evict());
    used_ += charge;
    policy_->inserted(*entry);
    present_[id] = std::move(entry);
  }

  void hit(uint64_t id) {
    Entry& entry = *present_.at(id);
    entry.touched = true;
    CacheEntry* each = &entry;
    if (policy_->wants_hits()) policy_->hits(&each, 1);
  }

  void erase(uint64_t id) {
    policy_->erased(*present_.at(id));
    used_ -= present_.at(id)->charge;
    present_.erase(id);
  }

  void change_capacity(uint64_t bytes) {
    capacity_ = bytes;
    policy_->set_capacity(bytes);
    while (used_ > capacity_) ASSERT_NO_FATAL_FAILURE(evict());
  }

  // Takes everything out by victim().
  void drain() {
    while (!present_.empty()) ASSERT_NO_FATAL_FAILURE(evict());
    EXPECT_EQ(policy_->victim(), nullptr) << "the policy has an entry too many";
    EXPECT_EQ(used_, 0u);
  }

  std::unique_ptr<CachePolicy> policy_;
  std::map<uint64_t, std::unique_ptr<Entry>> present_;
  uint64_t capacity_ = 0;
  uint64_t used_ = 0;
  uint64_t evictions_ = 0;
};

TEST_P(AllPolicies, ReturnEachEntryOnce) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    start(2000);
    Random random(seed);
    const auto steps = static_cast<uint64_t>(20'000 * test_scale());
    for (uint64_t i = 0; i < steps; ++i) {
      const uint64_t id = 1 + random.below(random.one_in(3) ? 2000 : 60);
      if (present_.contains(id)) {
        random.one_in(30) ? erase(id) : hit(id);
      } else {
        ASSERT_NO_FATAL_FAILURE(insert(id, random.below(120), random.one_in(10)));
      }
      if (random.one_in(500)) {
        ASSERT_NO_FATAL_FAILURE(change_capacity(random.below(4000) + 120));
      }
    }
    EXPECT_GT(evictions_, steps / 20);
    drain();
  }
}

TEST_P(AllPolicies, BeginAgainAfterTheyWereEmptied) {
  start(100);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t id = 1; id <= 50; ++id) ASSERT_NO_FATAL_FAILURE(insert(id, 5, id % 7 == 0));
    if (round == 1) {
      while (!present_.empty()) erase(present_.begin()->first);
    }
    drain();
  }
  EXPECT_EQ(policy_->victim(), nullptr);
}

TEST_P(AllPolicies, TakeABlockThatFillsTheCache) {
  start(100);
  for (uint64_t id = 1; id <= 20; ++id) ASSERT_NO_FATAL_FAILURE(insert(id, id % 3 == 0 ? 100 : 30, false));
  drain();
  change_capacity(0);
  ASSERT_NO_FATAL_FAILURE(insert(1, 0, false));
  ASSERT_NO_FATAL_FAILURE(insert(2, 0, true));
  drain();
}

// Ghosts of blocks that never come back must not gather, be they tiny or large.
TEST_P(AllPolicies, RememberABoundedNumberOfBlocks) {
  // A sanitizer's allocator tells no sum: there only the uses of memory are looked at.
  const uint64_t many = kSanitized ? 2'000 : 20'000;
  start(10'000);
  uint64_t next = 1;
  const auto fill = [&](uint64_t blocks, uint64_t charge) {
    for (const uint64_t end = next + blocks; next < end; ++next)
      ASSERT_NO_FATAL_FAILURE(insert(next, charge, false));
  };
  fill(many, 10);
  const size_t before = mallinfo2().uordblks;
  fill(5 * many, 10);
  fill(many, 9'000);  // one block at a time leaves little to remember
  fill(many, 10);
  const size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, before + 1'000'000);
  drain();
}

std::vector<std::string> all_texts() {
  register_cache_plugins();
  std::vector<std::string> texts = Registry<CachePolicy>::instance().names();
  for (const char* text : {"slru(single=60%, multi=30%, memory=10%)", "slru(single=0%, multi=0%, memory=0%)",
                           "s3fifo(counting=false)", "s3fifo(small=50%, ghost=0%, moves=1)",
                           "s3fifo(small=100%, ghost=200%)", "w_tinylfu(window=30%, protected=10%)",
                           "w_tinylfu(window=0%)", "w_tinylfu(window=100%, protected=100%)"})
    texts.emplace_back(text);
  return texts;
}

INSTANTIATE_TEST_SUITE_P(Policies, AllPolicies, ::testing::ValuesIn(all_texts()));

// The message of an unfit text.
std::string refusal(const std::string& text) {
  const Result<std::unique_ptr<CachePolicy>> made = Registry<CachePolicy>::instance().make(text);
  return made.ok() ? "accepted" : std::string(made.status().message());
}

TEST(CachePolicyTexts, SayWhatIsWrong) {
  register_cache_plugins();
  EXPECT_EQ(refusal("slru(single=0.4, multi=0.4, memory=20%)"), "accepted");
  EXPECT_NE(refusal("slru(single=half)").find("single"), std::string::npos);
  EXPECT_NE(refusal("slru(single=half)").find("a share from 0% to 100%, such as 25%"), std::string::npos);
  EXPECT_NE(refusal("slru(single=120%)").find("a share from 0% to 100%"), std::string::npos);
  EXPECT_NE(refusal("slru(multi=80%)").find("at most 100%"), std::string::npos);
  EXPECT_NE(refusal("s3fifo(moves=4)").find("moves"), std::string::npos);
  EXPECT_NE(refusal("s3fifo(ghost=500%)").find("a share from 0% to 400%, such as 90%"), std::string::npos);
  EXPECT_NE(refusal("w_tinylfu(windows=1%)").find("windows"), std::string::npos);
  EXPECT_NE(refusal("arc(p=1)").find("p"), std::string::npos);
  EXPECT_NE(refusal("sieve(x=1)").find("x"), std::string::npos);
}

}  // namespace
}  // namespace cellar::testing
