// The cache policy "fifo": what came first leaves first, used or not; blocks of in-memory families leave
// after all others.
#include "cache/entry_list.h"

namespace cellar {
namespace {

// Called under the shard's lock. Asks nobody whether a block was used, so readers pay nothing.
class Fifo final : public CachePolicy {
 public:
  explicit Fifo(const PluginParams&) {}

  void inserted(CacheEntry& entry) override { list_of(entry).push_newest(entry); }
  void erased(CacheEntry& entry) override { list_of(entry).remove(entry); }

  CacheEntry* victim() override {
    EntryList& list = ordinary_.size() != 0 ? ordinary_ : in_memory_;
    CacheEntry* entry = list.oldest();
    if (entry != nullptr) list.remove(*entry);
    return entry;
  }

 private:
  EntryList& list_of(const CacheEntry& entry) { return entry.in_memory ? in_memory_ : ordinary_; }

  EntryList ordinary_;
  EntryList in_memory_;
};

}  // namespace

CELLAR_PLUGIN(CachePolicy, cache_policy_fifo, "fifo", Fifo)

}  // namespace cellar
