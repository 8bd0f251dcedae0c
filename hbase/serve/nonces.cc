// Remembers the answers to requests with a nonce.
#include "hbase/serve/nonces.h"

#include "base/assert.h"

namespace cellar::hbase::serve {

Result<std::optional<ActionResult>> NonceTable::begin(const Key& key) {
  const MutexLock lock(mutex_);
  const auto [at, is_new] = answers_.emplace(key, std::nullopt);
  if (is_new) return std::optional<ActionResult>();
  if (!at->second) return Status::busy("the same request is being carried out");
  return at->second;
}

void NonceTable::finish(const Key& key, const ActionResult& answer) {
  const MutexLock lock(mutex_);
  const auto found = answers_.find(key);
  CELLAR_ASSERT(found != answers_.end() && !found->second);
  found->second = answer;
  order_.push_back(key);
  while (order_.size() > most_) {
    answers_.erase(order_.front());
    order_.pop_front();
  }
}

void NonceTable::forget(const Key& key) {
  const MutexLock lock(mutex_);
  const auto found = answers_.find(key);
  CELLAR_ASSERT(found != answers_.end() && !found->second);
  answers_.erase(found);
}

}  // namespace cellar::hbase::serve
