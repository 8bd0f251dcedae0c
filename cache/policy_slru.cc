// The cache policy "slru": HBase's LruBlockCache. Blocks used once, blocks used again and blocks of in-memory
// families have a share each. The share that is exceeded most gives the block to evict.
//
// The rules are those of HBase's LruBlockCache, with its default shares, but blocks leave one by one. HBase
// frees a part of the cache at a time. Its in-memory force mode does not exist here.
#include <array>

#include "base/assert.h"
#include "cache/entry_list.h"
#include "cache/share_param.h"

namespace cellar {

namespace {

// Called under the shard's lock. Unequal sizes: shares and lists count bytes. A block that is larger than the
// share of its list is evicted next from there, unless another list exceeds its share by more.
class SegmentedLru final : public CachePolicy {
 public:
  explicit SegmentedLru(const PluginParams& params)
      : shares_{share_param(params, "single", 0.25), share_param(params, "multi", 0.5),
                share_param(params, "memory", 0.25)} {
    if (shares_[kSingle] + shares_[kMulti] + shares_[kMemory] > 1 + 1e-9) {
      const char* const given = !params.text("single", "").empty()  ? "single"
                                : !params.text("multi", "").empty() ? "multi"
                                                                    : "memory";
      params.complain(given,
                      "a share that makes at most 100% with the other two of single=25%, multi=50% and "
                      "memory=25%");
    }
  }

  void set_capacity(uint64_t bytes) override { capacity_ = bytes; }
  void inserted(CacheEntry& entry) override {
    CELLAR_ASSERT(entry.policy_word == 0);
    entry.policy_word = entry.in_memory ? kMemory : kSingle;
    list_of(entry).push_newest(entry);
  }
  void erased(CacheEntry& entry) override { list_of(entry).remove(entry); }

  CacheEntry* victim() override {
    EntryList* chosen = nullptr;
    double most = 0;
    for (size_t i = 0; i < lists_.size(); ++i) {
      EntryList& list = lists_[i];
      if (list.size() == 0) continue;
      const double over = static_cast<double>(list.bytes()) - shares_[i] * static_cast<double>(capacity_);
      if (chosen != nullptr && over <= most) continue;
      chosen = &list;
      most = over;
    }
    return chosen == nullptr ? nullptr : chosen->take_oldest();
  }

  bool wants_hits() const override { return true; }
  void hits(CacheEntry* const* entries, size_t count) override {
    CELLAR_ASSERT(entries != nullptr && count > 0);
    for (size_t i = 0; i < count; ++i) {
      CacheEntry& entry = *entries[i];
      list_of(entry).remove(entry);
      if (entry.policy_word == kSingle) entry.policy_word = kMulti;
      list_of(entry).push_newest(entry);
    }
  }

 private:
  static constexpr size_t kSingle = 0;
  static constexpr size_t kMulti = 1;
  static constexpr size_t kMemory = 2;

  EntryList& list_of(const CacheEntry& entry) {
    CELLAR_ASSERT(entry.policy_word < lists_.size());
    return lists_[entry.policy_word];
  }

  std::array<double, 3> shares_;
  uint64_t capacity_ = 0;
  std::array<EntryList, 3> lists_;
};

}  // namespace

CELLAR_PLUGIN(CachePolicy, cache_policy_slru, "slru", SegmentedLru)

}  // namespace cellar
