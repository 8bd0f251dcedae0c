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
// The table remembers the answers of the last `most` numbers, in memory. After a restart it is empty: an
// increment that a client repeats then is made again. Any thread.
class NonceTable {
 public:
  using Key = std::pair<uint64_t, uint64_t>;  // the client's group and its number

  explicit NonceTable(size_t most) : most_(most) {}

  // Begins a request. Returns nothing if it is new: then finish() or forget() must follow. Returns the
  // answer that it had if it was made. kBusy if the first request with this number has not ended yet.
  Result<std::optional<ActionResult>> begin(const Key& key);
  void finish(const Key& key, const ActionResult& answer);
  void forget(const Key& key);

 private:
  const size_t most_;
  Mutex mutex_;
  // Nothing: the request has not ended yet.
  std::map<Key, std::optional<ActionResult>> answers_ CELLAR_GUARDED_BY(mutex_);
  std::deque<Key> order_ CELLAR_GUARDED_BY(mutex_);  // of the answers, the oldest first
};

}  // namespace cellar::hbase::serve
