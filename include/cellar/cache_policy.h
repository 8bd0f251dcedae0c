// CachePolicy: which block leaves the cache next. A plug-in; one instance per shard, called under the shard's
// lock.
#pragma once

#include <cstdint>

#include "cellar/plugin.h"

namespace CELLAR_PUBLIC cellar {

// CacheEntry: what a policy sees of a cached block, and the room it may use. Intrusive: no allocation on the
// way.
struct CacheEntry {
  CacheEntry* older = nullptr;  // the policy's own links
  CacheEntry* newer = nullptr;
  uint64_t policy_word = 0;  // the policy's own state
  uint64_t charge = 0;       // bytes the block counts for
  bool in_memory = false;    // the family asks for priority
  // Whether the block was used since the policy last asked; asking clears it. One relaxed bit, set by
  // readers.
  virtual bool take_touched() = 0;

 protected:
  ~CacheEntry() = default;
};

class CachePolicy {
 public:
  virtual ~CachePolicy() = default;
  // The block was put into the cache.
  virtual void inserted(CacheEntry& entry) = 0;
  // The block leaves for another reason than victim(): its file is closed.
  virtual void erased(CacheEntry& entry) = 0;
  // The next to leave, already removed from the policy's lists; null when there is none.
  virtual CacheEntry* victim() = 0;
  // Whether hits() shall be called; policies that are content with take_touched() say no and cost readers
  // nothing.
  virtual bool wants_hits() const { return false; }
  // Hits since the last call, oldest first; every entry is still in the cache. Some hits may be lost under
  // contention.
  virtual void hits(CacheEntry* const* entries, size_t count) {
    static_cast<void>(entries);
    static_cast<void>(count);
  }
};

}  // namespace cellar
