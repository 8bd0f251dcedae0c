// WriteGroup: many writers, one of them at a time applies what all have prepared.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "cellar/environment.h"
#include "cellar/options.h"
#include "cellar/status.h"

namespace cellar {

struct PreparedWrite;  // the write path's own

// WriteRequest: one batch, prepared by its writer, or a piece of work that wants to be alone. Lives on the
// writer's stack.
struct WriteRequest {
  Durability durability = Durability::kSyncWal;
  size_t bytes = 0;
  PreparedWrite* prepared = nullptr;  // null only if `alone` is set
  std::function<Status()> alone;      // set: run by the leader with nothing else under way
  Status result;

 private:
  friend class WriteGroup;
  enum class State : uint32_t { kWaiting, kLeader, kDone };
  std::atomic<State> state_{State::kWaiting};
};

// Any thread. Requests are applied in the order of arrival, in groups, by one of the waiting threads (the
// leader).
class WriteGroup {
 public:
  // `apply` is called by the leader with a group of requests and sets their results; never two calls at a
  // time.
  using Apply = std::function<void(std::span<WriteRequest*>)>;
  WriteGroup(Executor& executor, Apply apply);

  // Returns when the request has been applied; its result is set.
  Status commit(WriteRequest& request);

  // Runs `work` between groups: everything before has been applied, nothing after has begun.
  Status alone(std::function<Status()> work);

 private:
  void lead(WriteRequest& first);
  Apply apply_;
  std::unique_ptr<Event> turn_;
  Mutex mutex_;
  std::vector<WriteRequest*> queue_ CELLAR_GUARDED_BY(
      mutex_);                                   // waiting, oldest first; without the leader's group
  bool busy_ CELLAR_GUARDED_BY(mutex_) = false;  // somebody leads
  std::vector<WriteRequest*> group_;             // the leader's
};

}  // namespace cellar
