// NonceTable: increments and appends that were made, so that a repeated request is not made twice.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "cellar/check_and_mutate.h"
#include "cellar/status.h"

namespace cellar::hbase::serve {

// A client gives each increment and append a number, and repeats it when it asks again after a lost answer.
// The table remembers the last `most` numbers for half an hour, in memory, and answers of up to `bytes_most`
// bytes in all. The oldest answers go first; their numbers stay. After a restart the table is empty: an
// increment that a client repeats then is made again. Any thread.
class NonceTable {
 public:
  using Key = std::pair<uint64_t, uint64_t>;  // the client's group and its number

  NonceTable(size_t most, uint64_t bytes_most) : most_(most), bytes_most_(bytes_most) {}

  // Begins a request. Returns nothing if it is new: then finish() or forget() must follow. Returns the
  // answer that it had if it was made. Fails with kBusy if the first request with this number has not ended.
  // Fails with kDurabilityUnknown if it was made, and its answer is no longer kept.
  Result<std::optional<ActionResult>> begin(const Key& key);
  void finish(const Key& key, const ActionResult& answer);
  void forget(const Key& key);

 private:
  struct Made {
    std::optional<ActionResult> answer;  // nothing: the request has not ended yet, or the answer is dropped
    bool ended = false;
    uint64_t bytes = 0;
    int64_t ended_ms = 0;  // of the steady clock
  };
  void drop_oldest(int64_t now_ms) CELLAR_REQUIRES(mutex_);
  void drop_answer(Made& made) CELLAR_REQUIRES(mutex_);

  const size_t most_;
  const uint64_t bytes_most_;
  Mutex mutex_;
  std::map<Key, Made> made_ CELLAR_GUARDED_BY(mutex_);
  std::deque<Key> order_ CELLAR_GUARDED_BY(mutex_);      // of those that have ended, the oldest first
  size_t without_answer_ CELLAR_GUARDED_BY(mutex_) = 0;  // how many of `order_`, from its front
  uint64_t bytes_ CELLAR_GUARDED_BY(mutex_) = 0;
};

}  // namespace cellar::hbase::serve
