// Remembers the answers to requests with a nonce.
#include "hbase/serve/nonces.h"

#include <utility>

#include "base/assert.h"
#include "cellar/environment.h"

namespace cellar::hbase::serve {
namespace {

constexpr int64_t kAgeMs = 30 * 60 * 1000;

uint64_t bytes_of(const ActionResult& answer) {
  uint64_t bytes = 0;
  for (const Cell& cell : answer.row.cells)
    bytes += sizeof cell + cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value.size();
  return bytes;
}

}  // namespace

Result<std::optional<ActionResult>> NonceTable::begin(const Key& key) {
  const MutexLock lock(mutex_);
  const auto [at, is_new] = made_.try_emplace(key);
  if (is_new) return std::optional<ActionResult>();
  const Made& made = at->second;
  if (!made.ended) return Status::busy("the same request is being carried out");
  if (!made.answer)
    return Status::durability_unknown("the same request was made before, and its answer is no longer kept")
        .hinting("read the row to see its new value");
  return made.answer;
}

void NonceTable::finish(const Key& key, const ActionResult& answer) {
  const int64_t now_ms = system_clock().steady_us() / 1000;
  const MutexLock lock(mutex_);
  const auto found = made_.find(key);
  CELLAR_ASSERT(found != made_.end() && !found->second.ended);
  found->second = {answer, true, bytes_of(answer), now_ms};
  bytes_ += found->second.bytes;
  order_.push_back(key);
  drop_oldest(now_ms);
}

void NonceTable::drop_answer(Made& made) {
  CELLAR_ASSERT(made.ended && bytes_ >= made.bytes);
  bytes_ -= std::exchange(made.bytes, 0);
  made.answer.reset();
}

void NonceTable::drop_oldest(int64_t now_ms) {
  while (bytes_ > bytes_most_) {
    CELLAR_ASSERT(without_answer_ < order_.size());
    drop_answer(made_.at(order_[without_answer_++]));
  }
  while (!order_.empty()) {
    const auto oldest = made_.find(order_.front());
    CELLAR_ASSERT(oldest != made_.end());
    if (order_.size() <= most_ && now_ms - oldest->second.ended_ms <= kAgeMs) break;
    drop_answer(oldest->second);
    made_.erase(oldest);
    order_.pop_front();
    if (without_answer_ > 0) --without_answer_;
  }
}

void NonceTable::forget(const Key& key) {
  const MutexLock lock(mutex_);
  const auto found = made_.find(key);
  CELLAR_ASSERT(found != made_.end() && !found->second.ended);
  made_.erase(found);
}

}  // namespace cellar::hbase::serve
