// The cache policy "s3fifo": three queues. A small one tries new blocks, and the main one keeps the used
// ones. A queue of ghosts remembers which blocks left the small one.
//
// After Yang, Zhang, Qiu, Yue and Rashmi, "FIFO Queues are All You Need for Cache Eviction", SOSP 2023.
#include "base/assert.h"
#include "cache/entry_list.h"
#include "cache/ghost_list.h"
#include "cache/share_param.h"

namespace cellar {

namespace {

// Called under the shard's lock. Unequal sizes: the shares of the queues count bytes. A block that is larger
// than the share of the small queue is tried there like any other. Blocks of in-memory families enter the
// main queue at once.
//
// With counting=true each block counts up to three hits, as in the paper. A block moves to the main queue
// after `moves` hits, and stays there once for each hit. With counting=false readers only set a bit: a block
// that was used moves, and stays once.
class S3Fifo final : public CachePolicy {
 public:
  explicit S3Fifo(const PluginParams& params)
      : small_share_(share_param(params, "small", 0.1)),
        ghost_share_(share_param(params, "ghost", 0.9, 0, 4)),
        counting_(params.flag("counting", true)),
        moves_(params.count_within("moves", 2, 1, 3)) {}

  void set_capacity(uint64_t bytes) override {
    small_bytes_ = share_of(small_share_, bytes);
    main_bytes_ = bytes - small_bytes_;
    ghost_bytes_ = share_of(ghost_share_, bytes);
    limit_ghosts();
  }

  void arriving(const CacheEntry& entry) override { returns_ = ghosts_.forget(entry.id); }
  void inserted(CacheEntry& entry) override {
    CELLAR_ASSERT(entry.policy_word == 0);
    entry.policy_word = returns_ || entry.in_memory ? kMain : 0;
    returns_ = false;
    list_of(entry).push_newest(entry);
  }
  void erased(CacheEntry& entry) override { list_of(entry).remove(entry); }

  CacheEntry* victim() override {
    CacheEntry* found = nullptr;
    if (main_.bytes() <= main_bytes_) found = victim_of_small();
    // The small queue may have moved all that it had.
    if (found == nullptr) found = victim_of_main();
    return found != nullptr ? found : victim_of_small();
  }

  bool wants_hits() const override { return counting_; }
  void hits(CacheEntry* const* entries, size_t count) override {
    CELLAR_ASSERT(counting_ && entries != nullptr && count > 0);
    for (size_t i = 0; i < count; ++i)
      if ((entries[i]->policy_word & kUses) < kUsesMax) ++entries[i]->policy_word;
  }

 private:
  // The word of an entry: how often it was used, and whether it is in the main queue.
  static constexpr uint64_t kUses = 3;
  static constexpr uint64_t kUsesMax = 3;
  static constexpr uint64_t kMain = 4;

  EntryList& list_of(const CacheEntry& entry) { return (entry.policy_word & kMain) != 0 ? main_ : small_; }

  CacheEntry* victim_of_small() {
    while (CacheEntry* const entry = small_.take_oldest()) {
      const bool used = counting_ ? (entry->policy_word & kUses) >= moves_ : entry->take_touched();
      if (!used) {
        ghosts_.remember(entry->id, entry->charge);
        limit_ghosts();
        return entry;
      }
      entry->policy_word = kMain;
      main_.push_newest(*entry);
    }
    return nullptr;
  }

  // The bound counts when readers mark entries as fast as they are passed.
  CacheEntry* victim_of_main() {
    CELLAR_ASSERT(main_.size() > 0 || main_.bytes() == 0);
    for (uint64_t left = (kUsesMax + 1) * main_.size(); left > 0; --left) {
      CacheEntry* const entry = main_.take_oldest();
      if (left == 1 || !use_once(*entry)) return entry;
      main_.push_newest(*entry);
    }
    return nullptr;
  }

  bool use_once(CacheEntry& entry) const {
    if (!counting_) return entry.take_touched();
    if ((entry.policy_word & kUses) == 0) return false;
    --entry.policy_word;
    return true;
  }

  void limit_ghosts() {
    ghosts_.limit(ghost_bytes_, ghosts_max(small_.size() + main_.size()));
    CELLAR_ASSERT(ghosts_.bytes() <= ghost_bytes_);
  }

  const double small_share_;
  const double ghost_share_;
  const bool counting_;
  const uint64_t moves_;
  uint64_t small_bytes_ = 0;
  uint64_t main_bytes_ = 0;
  uint64_t ghost_bytes_ = 0;
  EntryList small_;
  EntryList main_;
  GhostList ghosts_;
  bool returns_ = false;  // the arriving block was a ghost
};

}  // namespace

CELLAR_PLUGIN(CachePolicy, cache_policy_s3fifo, "s3fifo", S3Fifo)

}  // namespace cellar
