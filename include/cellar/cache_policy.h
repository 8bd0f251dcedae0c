// CachePolicy: chooses the block that is evicted from the cache next. A plug-in with one instance for each
// shard, called under the shard's lock.
#pragma once

#include <cstdint>

#include "cellar/plugin.h"

namespace CELLAR_PUBLIC cellar {

// CacheEntry: a cached block as a policy sees it, with links for the policy, so that it need not allocate.
struct CacheEntry {
  CacheEntry* older = nullptr;  // the policy's own links
  CacheEntry* newer = nullptr;
  uint64_t policy_word = 0;  // the policy's own state
  uint64_t charge = 0;       // bytes that the block counts for
  bool in_memory = false;    // the family asks for priority
  // Returns whether the block was used since the last call, and clears that. One relaxed bit, set by readers.
  virtual bool take_touched() = 0;

 protected:
  ~CacheEntry() = default;
};

class CachePolicy {
 public:
  virtual ~CachePolicy() = default;
  // The block was put into the cache.
  virtual void inserted(CacheEntry& entry) = 0;
  // The block leaves the cache because its file was closed.
  virtual void erased(CacheEntry& entry) = 0;
  // Removes the next block to evict from the policy's lists and returns it. Null if the lists are empty.
  virtual CacheEntry* victim() = 0;
  // Returns whether hits() is to be called. Without it, readers only set the bit of take_touched().
  virtual bool wants_hits() const { return false; }
  // Reports hits since the last call, oldest first. All entries are still in the cache. Some hits may be lost
  // under contention.
  virtual void hits(CacheEntry* const* entries, size_t count) {
    static_cast<void>(entries);
    static_cast<void>(count);
  }
};

}  // namespace cellar
