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
  uint64_t policy_word = 0;  // the policy's own state; 0 when the block arrives
  uint64_t charge = 0;       // bytes that the block counts for
  uint64_t id = 0;           // names the block: the same number when the block comes back. Not evenly spread
  bool in_memory = false;    // the family asks for priority
  // Returns whether the block was used since the last call, and clears that. One relaxed bit, set by readers.
  virtual bool take_touched() = 0;

 protected:
  ~CacheEntry() = default;
};

// A policy may remember blocks that have left ("ghosts"). The bound of that memory follows from the capacity
// and from the number of blocks in the cache. All functions are called under the shard's lock, so they must
// not wait.
//
// A block that is read and has no room yet makes these calls: arriving(), victim() until there is room,
// inserted(). A block for which there is room makes the same calls without victim().
class CachePolicy {
 public:
  virtual ~CachePolicy() = default;
  // Gives the bytes that the blocks of the shard may take. Called before the first block, and again when
  // indexes and filters take more or less of the cache.
  virtual void set_capacity(uint64_t bytes) { static_cast<void>(bytes); }
  // The block was not found and will be inserted now, once room is made for it.
  virtual void arriving(const CacheEntry& entry) { static_cast<void>(entry); }
  // The block was put into the cache.
  virtual void inserted(CacheEntry& entry) = 0;
  // The block leaves the cache because its file was closed, or because another one needs its place.
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
