// The cache policy "lru": the block that was used longest ago leaves, blocks of in-memory families after all
// others.
#include "cache/entry_list.h"

namespace cellar {

namespace {

// Called under the shard's lock.
class Lru final : public CachePolicy {
 public:
  explicit Lru(const PluginParams&) {}

  void inserted(CacheEntry& entry) override { list_of(entry).push_newest(entry); }
  void erased(CacheEntry& entry) override { list_of(entry).remove(entry); }

  CacheEntry* victim() override {
    for (EntryList* list : {&ordinary_, &in_memory_}) {
      if (CacheEntry* oldest = list->oldest()) {
        list->remove(*oldest);
        return oldest;
      }
    }
    return nullptr;
  }

  bool wants_hits() const override { return true; }
  void hits(CacheEntry* const* entries, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      EntryList& list = list_of(*entries[i]);
      list.remove(*entries[i]);
      list.push_newest(*entries[i]);
    }
  }

 private:
  EntryList& list_of(const CacheEntry& entry) { return entry.in_memory ? in_memory_ : ordinary_; }

  EntryList ordinary_;
  EntryList in_memory_;
};

}  // namespace

CELLAR_PLUGIN(CachePolicy, cache_policy_lru, "lru", Lru)

}  // namespace cellar
