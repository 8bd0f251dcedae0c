// WriteGroup: many writers, one of them at a time applies what all have prepared.
#pragma once

#include <array>
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

struct PreparedWrite;

// WriteRequest: one batch, prepared by its writer, or a piece of work that needs to be alone. Lives on the
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
  Event* event_ = nullptr;  // the writer waits for it
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
  void take_group(WriteRequest& first);
  WriteRequest* hand_over();
  Event& event_for_next() CELLAR_REQUIRES(mutex_);

  Apply apply_;
  // A writer that waits for its group waits for one of two events, by the number of the group. So the end of
  // a group wakes the writers of that group, and not those of the next one. The writer that will lead next
  // has an event of its own.
  const std::unique_ptr<Event> next_leader_;
  const std::array<std::unique_ptr<Event>, 2> followers_;
  Mutex mutex_;
  std::vector<WriteRequest*> queue_ CELLAR_GUARDED_BY(
      mutex_);                                     // waiting, oldest first; without the leader's group
  bool busy_ CELLAR_GUARDED_BY(mutex_) = false;    // somebody leads
  uint64_t groups_ CELLAR_GUARDED_BY(mutex_) = 0;  // begun so far
  std::vector<WriteRequest*> group_;               // the leader's
};

}  // namespace cellar
