// EntryList: cache entries from the oldest to the newest, linked through themselves.
#pragma once

#include "base/assert.h"
#include "cellar/cache_policy.h"

namespace cellar {

// One thread at a time. Owns nothing; an entry may be in one list only. The charge of an entry stays the same
// while the entry is in a list.
class EntryList {
 public:
  uint64_t size() const { return size_; }
  uint64_t bytes() const { return bytes_; }
  CacheEntry* oldest() const { return oldest_; }

  void push_newest(CacheEntry& entry) {
    CELLAR_ASSERT(entry.older == nullptr && entry.newer == nullptr && oldest_ != &entry);  // in no list
    CELLAR_ASSERT((size_ == 0) == (newest_ == nullptr));
    entry.older = newest_;
    entry.newer = nullptr;
    (newest_ != nullptr ? newest_->newer : oldest_) = &entry;
    newest_ = &entry;
    ++size_;
    bytes_ += entry.charge;
  }

  void remove(CacheEntry& entry) {
    CELLAR_ASSERT(size_ > 0 && bytes_ >= entry.charge);
    CELLAR_DCHECK(entry.older != nullptr || oldest_ == &entry);
    CELLAR_DCHECK(entry.newer != nullptr || newest_ == &entry);
    (entry.older != nullptr ? entry.older->newer : oldest_) = entry.newer;
    (entry.newer != nullptr ? entry.newer->older : newest_) = entry.older;
    entry.older = nullptr;
    entry.newer = nullptr;
    --size_;
    bytes_ -= entry.charge;
  }

  // Makes the entry of this list the newest one.
  void renew(CacheEntry& entry) {
    remove(entry);
    push_newest(entry);
  }

  // Removes the oldest entry and returns it; null if the list is empty.
  CacheEntry* take_oldest() {
    CacheEntry* const entry = oldest_;
    if (entry != nullptr) remove(*entry);
    return entry;
  }

 private:
  CacheEntry* oldest_ = nullptr;
  CacheEntry* newest_ = nullptr;
  uint64_t size_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace cellar
