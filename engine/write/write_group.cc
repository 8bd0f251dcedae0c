// WriteGroup: a queue and a baton.
#include "engine/write/write_group.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

constexpr size_t kGroupRequestsMax = 100;
constexpr size_t kGroupBytesMax = 1 << 20;

}  // namespace

WriteGroup::WriteGroup(Executor& executor, Apply apply)
    : apply_(std::move(apply)),
      next_leader_(executor.make_event()),
      followers_{executor.make_event(), executor.make_event()} {
  group_.reserve(kGroupRequestsMax);
  CELLAR_ASSERT(apply_ != nullptr);
}

// The event of a request that is about to be queued. The first in the queue leads the next group; the others
// follow it, unless the group gets too large.
Event& WriteGroup::event_for_next() { return queue_.empty() ? *next_leader_ : *followers_[groups_ % 2]; }

Status WriteGroup::commit(WriteRequest& request) {
  CELLAR_ASSERT((request.prepared == nullptr) == (request.alone != nullptr));
  CELLAR_ASSERT(request.state_.load(std::memory_order_relaxed) == WriteRequest::State::kWaiting);
  CELLAR_ASSERT(mutexes_held() == 0);
  mutex_.lock();
  if (!busy_) {
    busy_ = true;
    mutex_.unlock();
    lead(request);
    return request.result;
  }
  Event& event = event_for_next();
  request.event_ = &event;
  CELLAR_DCHECK(std::ranges::find(queue_, &request) == queue_.end());
  queue_.push_back(&request);
  mutex_.unlock();
  while (true) {
    const uint64_t seen = event.count();
    const WriteRequest::State state = request.state_.load(std::memory_order_acquire);
    if (state == WriteRequest::State::kDone) return request.result;
    if (state == WriteRequest::State::kLeader) break;
    event.wait(seen, -1);
  }
  CELLAR_ASSERT(request.state_.load(std::memory_order_relaxed) != WriteRequest::State::kDone);
  lead(request);
  return request.result;
}

// Makes the leader's group: its own request, and those queued after it. A request to run alone gets no
// followers, and follows nobody.
void WriteGroup::take_group(WriteRequest& first) {
  group_.clear();
  group_.push_back(&first);
  MutexLock lock(mutex_);
  ++groups_;
  if (first.alone) return;
  size_t bytes = first.bytes;
  size_t taken = 0;
  while (taken < queue_.size() && group_.size() < kGroupRequestsMax && bytes < kGroupBytesMax &&
         !queue_[taken]->alone) {
    bytes += queue_[taken]->bytes;
    group_.push_back(queue_[taken++]);
  }
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(taken));
}

// Takes the next leader out of the queue. Returns null if nobody waits.
WriteRequest* WriteGroup::hand_over() {
  MutexLock lock(mutex_);
  CELLAR_ASSERT(busy_);  // until this thread hands over
  if (queue_.empty()) {
    busy_ = false;
    return nullptr;
  }
  WriteRequest* next = queue_.front();
  CELLAR_ASSERT(next->state_.load(std::memory_order_relaxed) == WriteRequest::State::kWaiting);
  queue_.erase(queue_.begin());
  return next;
}

// The caller leads: it applies its group, then hands over to the next in the queue.
void WriteGroup::lead(WriteRequest& first) {
  take_group(first);
  CELLAR_ASSERT(group_.size() <= kGroupRequestsMax && (!first.alone || group_.size() == 1));
  if (first.alone) {
    first.result = first.alone();
  } else {
    apply_(group_);
  }
  // Followers may return, and their requests end, as soon as they are marked: nothing of them is touched
  // afterwards. All but a few of them wait for the same event.
  Event* to_signal = nullptr;
  const auto signal = [&to_signal](Event* event) {
    if (event == to_signal) return;
    if (to_signal != nullptr) to_signal->signal();
    to_signal = event;
  };
  for (size_t i = 1; i < group_.size(); ++i) {
    Event* const event = group_[i]->event_;
    group_[i]->state_.store(WriteRequest::State::kDone, std::memory_order_release);
    signal(event);
  }
  if (WriteRequest* const next = hand_over()) {
    Event* const event = next->event_;
    next->state_.store(WriteRequest::State::kLeader, std::memory_order_release);
    signal(event);
  }
  signal(nullptr);
}

Status WriteGroup::alone(std::function<Status()> work) {
  CELLAR_ASSERT(work != nullptr);
  WriteRequest request;
  request.alone = std::move(work);
  return commit(request);
}

}  // namespace cellar
