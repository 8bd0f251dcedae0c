// The cache policy "clock": a hand goes round and evicts the first block that was not used since its last
// visit. Blocks of in-memory families are evicted after all others.
#include "cache/entry_list.h"

namespace cellar {

namespace {

// Called under the shard's lock. The ring is a list whose oldest entry is under the hand. The hand passes an
// entry by making it the newest. The hand reaches a new block last, and keeps it only if it was used again by
// then. A scan that reads each block once therefore evicts only its own blocks.
class ClockPolicy final : public CachePolicy {
 public:
  explicit ClockPolicy(const PluginParams&) {}

  void inserted(CacheEntry& entry) override { ring_of(entry).push_newest(entry); }
  void erased(CacheEntry& entry) override { ring_of(entry).remove(entry); }

  CacheEntry* victim() override {
    CacheEntry* found = victim_of(ordinary_);
    return found != nullptr ? found : victim_of(in_memory_);
  }

 private:
  // Readers may mark entries as fast as the hand clears them: after two rounds it takes what it has before
  // it.
  static CacheEntry* victim_of(EntryList& ring) {
    for (uint64_t left = 2 * ring.size(); left > 0; --left) {
      CacheEntry* entry = ring.oldest();
      ring.remove(*entry);
      if (left == 1 || !entry->take_touched()) return entry;
      ring.push_newest(*entry);
    }
    return nullptr;
  }

  EntryList& ring_of(const CacheEntry& entry) { return entry.in_memory ? in_memory_ : ordinary_; }

  EntryList ordinary_;
  EntryList in_memory_;
};

}  // namespace

CELLAR_PLUGIN(CachePolicy, cache_policy_clock, "clock", ClockPolicy)

}  // namespace cellar
