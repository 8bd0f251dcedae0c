// GhostList: a hash table whose elements are linked by age.
#include "cache/ghost_list.h"

#include "base/assert.h"

namespace cellar {

void GhostList::unlink(const Ghost& ghost) {
  CELLAR_ASSERT(bytes_ >= ghost.charge);
  (ghost.older != nullptr ? ghost.older->newer : oldest_) = ghost.newer;
  (ghost.newer != nullptr ? ghost.newer->older : newest_) = ghost.older;
  bytes_ -= ghost.charge;
}

void GhostList::remember(uint64_t id, uint64_t charge) {
  const auto [at, added] = ghosts_.try_emplace(id);
  Ghost& ghost = at->second;
  if (!added) unlink(ghost);
  ghost = {.id = id, .charge = charge, .older = newest_, .newer = nullptr};
  (newest_ != nullptr ? newest_->newer : oldest_) = &ghost;
  newest_ = &ghost;
  bytes_ += charge;
}

bool GhostList::forget(uint64_t id) {
  CELLAR_ASSERT((oldest_ == nullptr) == (newest_ == nullptr));
  const auto at = ghosts_.find(id);
  if (at == ghosts_.end()) return false;
  unlink(at->second);
  ghosts_.erase(at);
  return true;
}

void GhostList::forget_oldest() {
  CELLAR_ASSERT(oldest_ != nullptr);
  const uint64_t id = oldest_->id;
  unlink(*oldest_);
  ghosts_.erase(id);
}

void GhostList::limit(uint64_t bytes, uint64_t count) {
  CELLAR_ASSERT((oldest_ == nullptr) == ghosts_.empty());
  while (oldest_ != nullptr && (bytes_ > bytes || ghosts_.size() > count)) forget_oldest();
}

}  // namespace cellar
