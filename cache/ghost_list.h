// GhostList: the ids of blocks that have left the cache, from the oldest to the newest.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace cellar {

// One thread at a time. Takes about 80 bytes for each ghost. The owner bounds the list: it calls
// forget_oldest until bytes() and size() are what it allows.
class GhostList {
 public:
  uint64_t size() const { return ghosts_.size(); }
  uint64_t bytes() const { return bytes_; }  // that the blocks had
  bool contains(uint64_t id) const { return ghosts_.contains(id); }

  // Makes the block the newest ghost. A ghost with the same id is replaced.
  void remember(uint64_t id, uint64_t charge);
  // Returns whether the id was there. It is not afterwards.
  bool forget(uint64_t id);
  // The list must not be empty.
  void forget_oldest();
  // Forgets the oldest ghosts until they had at most `bytes` and are at most `count`.
  void limit(uint64_t bytes, uint64_t count);

 private:
  struct Ghost {
    uint64_t id = 0;
    uint64_t charge = 0;
    Ghost* older = nullptr;
    Ghost* newer = nullptr;
  };
  void unlink(const Ghost& ghost);

  std::unordered_map<uint64_t, Ghost> ghosts_;  // its elements stay where they are
  Ghost* oldest_ = nullptr;
  Ghost* newest_ = nullptr;
  uint64_t bytes_ = 0;
};

// Returns how many ghosts a policy may remember while so many blocks are cached. This bound matters when
// blocks differ in size, or when closed files have emptied the cache; otherwise the bound in bytes is lower.
constexpr uint64_t ghosts_max(uint64_t cached_blocks) { return 4 * cached_blocks + 64; }

}  // namespace cellar
