// The cache policy "arc": adaptive replacement. Blocks used once and blocks used again share the cache, and
// the ghosts of both say which of them deserves more of it.
//
// After Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003. Names in
// parentheses are those of the paper.
#include <algorithm>

#include "base/assert.h"
#include "cache/entry_list.h"
#include "cache/ghost_list.h"

namespace cellar {

namespace {

// Called under the shard's lock. Unequal sizes: lists and the target count bytes, and a ghost that comes back
// moves the target by its size. With equal sizes this is the algorithm of the paper. Blocks of in-memory
// families count as used again when they arrive.
class Arc final : public CachePolicy {
 public:
  explicit Arc(const PluginParams&) {}

  void set_capacity(uint64_t bytes) override {
    capacity_ = bytes;
    target_ = std::min(target_, static_cast<double>(bytes));
    limit_ghosts();
  }

  // The cases II and III of the paper; the rest of case IV is in limit_ghosts().
  void arriving(const CacheEntry& entry) override {
    const auto once = static_cast<double>(once_ghosts_.bytes());
    const auto again = static_cast<double>(again_ghosts_.bytes());
    const auto charge = static_cast<double>(entry.charge);
    arrives_ = Arrives::kNew;
    if (once_ghosts_.forget(entry.id)) {
      arrives_ = Arrives::kUsedOnce;
      target_ = std::min(target_ + charge * weight(again, once), static_cast<double>(capacity_));
    } else if (again_ghosts_.forget(entry.id)) {
      arrives_ = Arrives::kUsedAgain;
      target_ = std::max(target_ - charge * weight(once, again), 0.0);
    }
  }

  void inserted(CacheEntry& entry) override {
    CELLAR_ASSERT(entry.policy_word == 0);
    CELLAR_ASSERT(target_ >= 0 && target_ <= static_cast<double>(capacity_));
    entry.policy_word = arrives_ != Arrives::kNew || entry.in_memory ? kAgain : kOnce;
    arrives_ = Arrives::kNew;
    list_of(entry).push_newest(entry);
    limit_ghosts();
  }
  void erased(CacheEntry& entry) override { list_of(entry).remove(entry); }

  // REPLACE of the paper.
  CacheEntry* victim() override {
    const auto once = static_cast<double>(once_.bytes());
    const bool above = once > target_ || (arrives_ == Arrives::kUsedAgain && once == target_);
    const bool of_once = once_.size() > 0 && (above || again_.size() == 0);
    CacheEntry* const entry = of_once ? once_.take_oldest() : again_.take_oldest();
    if (entry != nullptr) (of_once ? once_ghosts_ : again_ghosts_).remember(entry->id, entry->charge);
    return entry;
  }

  bool wants_hits() const override { return true; }
  void hits(CacheEntry* const* entries, size_t count) override {
    CELLAR_ASSERT(entries != nullptr && count > 0);
    for (size_t i = 0; i < count; ++i) {
      CacheEntry& entry = *entries[i];
      list_of(entry).remove(entry);
      entry.policy_word = kAgain;
      again_.push_newest(entry);
    }
  }

 private:
  enum class Arrives : uint8_t { kNew, kUsedOnce, kUsedAgain };
  static constexpr uint64_t kOnce = 0;
  static constexpr uint64_t kAgain = 1;

  // A ghost weighs more if the other list has more ghosts. Blocks may have no bytes.
  static double weight(double other, double own) { return own > 0 ? std::max(1.0, other / own) : 1.0; }

  EntryList& list_of(const CacheEntry& entry) {
    CELLAR_ASSERT(entry.policy_word <= kAgain);
    return entry.policy_word == kOnce ? once_ : again_;
  }

  // Blocks used once take, with their ghosts, at most the cache's size (|L1| ≤ c). All lists together take
  // at most twice that.
  void limit_ghosts() {
    const uint64_t ghosts = ghosts_max(once_.size() + again_.size());
    once_ghosts_.limit(capacity_ - std::min(capacity_, once_.bytes()), ghosts);
    const uint64_t others = once_.bytes() + once_ghosts_.bytes() + again_.bytes();
    again_ghosts_.limit(2 * capacity_ - std::min(2 * capacity_, others), ghosts);
    CELLAR_ASSERT(once_ghosts_.bytes() <= capacity_ && again_ghosts_.bytes() <= 2 * capacity_);
  }

  uint64_t capacity_ = 0;   // (c)
  double target_ = 0;       // bytes that those used once should have (p)
  EntryList once_;          // (T1)
  EntryList again_;         // (T2)
  GhostList once_ghosts_;   // (B1)
  GhostList again_ghosts_;  // (B2)
  Arrives arrives_ = Arrives::kNew;
};

}  // namespace

CELLAR_PLUGIN(CachePolicy, cache_policy_arc, "arc", Arc)

}  // namespace cellar
