// EntryList: cache entries from the oldest to the newest, linked through themselves.
#pragma once

#include "base/assert.h"
#include "cellar/cache_policy.h"

namespace cellar {

// One thread at a time. Owns nothing; an entry may be in one list only.
class EntryList {
 public:
  uint64_t size() const { return size_; }
  CacheEntry* oldest() const { return oldest_; }

  void push_newest(CacheEntry& entry) {
    CELLAR_ASSERT(entry.older == nullptr && entry.newer == nullptr && oldest_ != &entry);  // in no list
    CELLAR_ASSERT((size_ == 0) == (newest_ == nullptr));
    entry.older = newest_;
    entry.newer = nullptr;
    (newest_ != nullptr ? newest_->newer : oldest_) = &entry;
    newest_ = &entry;
    ++size_;
  }

  void remove(CacheEntry& entry) {
    CELLAR_ASSERT(size_ > 0);
    CELLAR_DCHECK(entry.older != nullptr || oldest_ == &entry);
    CELLAR_DCHECK(entry.newer != nullptr || newest_ == &entry);
    (entry.older != nullptr ? entry.older->newer : oldest_) = entry.newer;
    (entry.newer != nullptr ? entry.newer->older : newest_) = entry.older;
    entry.older = nullptr;
    entry.newer = nullptr;
    --size_;
  }

 private:
  CacheEntry* oldest_ = nullptr;
  CacheEntry* newest_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace cellar
