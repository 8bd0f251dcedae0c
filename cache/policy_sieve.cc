// The cache policy "sieve": a hand walks from the oldest block to the newest. It evicts the first one that
// was not used since its last visit. Used blocks stay where they are.
//
// After Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is Simpler than LRU", NSDI 2024.
#include "base/assert.h"
#include "cache/entry_list.h"

namespace cellar {

namespace {

// Called under the shard's lock. New blocks come in at the newest end, and the hand begins again at the
// oldest one. So it takes new blocks soon, and a scan evicts its own blocks. Sizes do not matter to it:
// blocks leave until there is room. Blocks of in-memory families have a list and a hand of their own, and
// are evicted after all others.
class Sieve final : public CachePolicy {
 public:
  explicit Sieve(const PluginParams&) {}

  void inserted(CacheEntry& entry) override { queue_of(entry).list.push_newest(entry); }
  void erased(CacheEntry& entry) override { queue_of(entry).remove(entry); }

  CacheEntry* victim() override {
    CacheEntry* const found = ordinary_.victim();
    return found != nullptr ? found : in_memory_.victim();
  }

 private:
  struct Queue {
    EntryList list;
    CacheEntry* hand = nullptr;  // the next one to visit; null: the oldest

    void remove(CacheEntry& entry) {
      if (hand == &entry) hand = entry.newer;
      list.remove(entry);
    }

    // Readers may mark entries as fast as the hand clears them: after two rounds it takes what it has before
    // it.
    CacheEntry* victim() {
      for (uint64_t left = 2 * list.size(); left > 0; --left) {
        CacheEntry* const entry = hand != nullptr ? hand : list.oldest();
        CELLAR_ASSERT(entry != nullptr);
        if (left > 1 && entry->take_touched()) {
          hand = entry->newer;
          continue;
        }
        hand = entry;
        remove(*entry);
        return entry;
      }
      return nullptr;
    }
  };

  Queue& queue_of(const CacheEntry& entry) { return entry.in_memory ? in_memory_ : ordinary_; }

  Queue ordinary_;
  Queue in_memory_;
};

}  // namespace

CELLAR_PLUGIN(CachePolicy, cache_policy_sieve, "sieve", Sieve)

}  // namespace cellar
