// The cache policy "w_tinylfu": new blocks wait in a small window. A block that leaves the window replaces
// the oldest one of the main part only if it was asked for more often lately.
//
// After Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions
// on Storage 13 (4), 2017.
#include "base/assert.h"
#include "cache/entry_list.h"
#include "cache/frequency_sketch.h"
#include "cache/share_param.h"

namespace cellar {

namespace {

// Called under the shard's lock. The main part is a segmented LRU list. A block on probation that is used
// becomes protected. The oldest protected blocks above their share return to probation. Unequal sizes: shares
// count bytes, and blocks are compared one by one by their frequency. The window holds at least its newest
// block, whatever its size. Blocks of in-memory families are protected when they arrive.
//
// The frequencies have no doorkeeper (a filter that keeps blocks asked for once out of the sketch). The
// sketch takes 8 bytes a block, which is little for blocks of kilobytes.
class WindowTinyLfu final : public CachePolicy {
 public:
  explicit WindowTinyLfu(const PluginParams& params)
      : window_share_(share_param(params, "window", 0.01)),
        protected_share_(share_param(params, "protected", 0.8)) {}

  void set_capacity(uint64_t bytes) override {
    window_bytes_ = share_of(window_share_, bytes);
    protected_bytes_ = share_of(protected_share_, bytes - window_bytes_);
    demote();
  }

  void arriving(const CacheEntry& entry) override {
    sketch_.add(entry.id);
    arriving_bytes_ = entry.in_memory ? 0 : entry.charge;
  }

  void inserted(CacheEntry& entry) override {
    CELLAR_ASSERT(entry.policy_word == 0);
    arriving_bytes_ = 0;
    if (entry.in_memory) {
      put(entry, kProtected);
      demote();
    } else {
      put(entry, kWindow);
      while (window_.bytes() > window_bytes_ && window_.size() > 1) put(*window_.take_oldest(), kProbation);
    }
    sketch_.grow_to(window_.size() + probation_.size() + protected_.size());
  }
  void erased(CacheEntry& entry) override { list_of(entry).remove(entry); }

  CacheEntry* victim() override {
    CacheEntry* const candidate =
        window_.bytes() + arriving_bytes_ > window_bytes_ ? window_.oldest() : nullptr;
    EntryList& main = probation_.size() > 0 ? probation_ : protected_;
    CacheEntry* const oldest = main.oldest();
    if (oldest == nullptr) return window_.take_oldest();
    if (candidate == nullptr) return main.take_oldest();
    window_.remove(*candidate);
    if (sketch_.count(candidate->id) <= sketch_.count(oldest->id)) return candidate;
    main.remove(*oldest);
    put(*candidate, kProbation);
    return oldest;
  }

  bool wants_hits() const override { return true; }
  void hits(CacheEntry* const* entries, size_t count) override {
    CELLAR_ASSERT(entries != nullptr && count > 0);
    for (size_t i = 0; i < count; ++i) {
      CacheEntry& entry = *entries[i];
      sketch_.add(entry.id);
      list_of(entry).remove(entry);
      put(entry, entry.policy_word == kWindow ? kWindow : kProtected);
      demote();
    }
  }

 private:
  static constexpr uint64_t kWindow = 0;
  static constexpr uint64_t kProbation = 1;
  static constexpr uint64_t kProtected = 2;

  EntryList& list_of(const CacheEntry& entry) {
    CELLAR_ASSERT(entry.policy_word <= kProtected);
    if (entry.policy_word == kWindow) return window_;
    return entry.policy_word == kProbation ? probation_ : protected_;
  }
  // Makes an entry that is in no list the newest of one.
  void put(CacheEntry& entry, uint64_t list) {
    CELLAR_ASSERT(list <= kProtected);
    entry.policy_word = list;
    list_of(entry).push_newest(entry);
  }
  void demote() {
    CELLAR_ASSERT(protected_.size() > 0 || protected_.bytes() == 0);
    while (protected_.bytes() > protected_bytes_) put(*protected_.take_oldest(), kProbation);
  }

  const double window_share_;
  const double protected_share_;
  uint64_t window_bytes_ = 0;
  uint64_t protected_bytes_ = 0;
  uint64_t arriving_bytes_ = 0;  // that the window needs for the block that arrives
  EntryList window_;
  EntryList probation_;
  EntryList protected_;
  FrequencySketch sketch_;
};

}  // namespace

CELLAR_PLUGIN(CachePolicy, cache_policy_w_tinylfu, "w_tinylfu", WindowTinyLfu)

}  // namespace cellar
