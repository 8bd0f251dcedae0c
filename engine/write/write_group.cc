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
    : apply_(std::move(apply)), turn_(executor.make_event()) {
  group_.reserve(kGroupRequestsMax);
  CELLAR_ASSERT(apply_ != nullptr);
}

Status WriteGroup::commit(WriteRequest& request) {
  CELLAR_ASSERT((request.prepared == nullptr) == (request.alone != nullptr));
  CELLAR_ASSERT(request.state_.load(std::memory_order_relaxed) == WriteRequest::State::kWaiting);
  CELLAR_ASSERT(mutexes_held() == 0);
  mutex_.lock();
  if (busy_) {
    CELLAR_DCHECK(std::ranges::find(queue_, &request) == queue_.end());
    queue_.push_back(&request);
    mutex_.unlock();
    while (true) {
      const uint64_t seen = turn_->count();
      const WriteRequest::State state = request.state_.load(std::memory_order_acquire);
      if (state == WriteRequest::State::kDone) return request.result;
      if (state == WriteRequest::State::kLeader) break;
      turn_->wait(seen, -1);
    }
  } else {
    busy_ = true;
    mutex_.unlock();
  }
  CELLAR_ASSERT(request.state_.load(std::memory_order_relaxed) != WriteRequest::State::kDone);
  lead(request);
  return request.result;
}

// The caller leads: it applies its own request and what has queued up behind it, then hands over to the next
// in the queue.
void WriteGroup::lead(WriteRequest& first) {
  group_.clear();
  group_.push_back(&first);
  if (!first.alone) {
    MutexLock lock(mutex_);
    size_t bytes = first.bytes;
    size_t taken = 0;
    while (taken < queue_.size() && group_.size() < kGroupRequestsMax && bytes < kGroupBytesMax &&
           !queue_[taken]->alone) {
      bytes += queue_[taken]->bytes;
      group_.push_back(queue_[taken++]);
    }
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  CELLAR_ASSERT(group_.size() <= kGroupRequestsMax && (!first.alone || group_.size() == 1));
  if (first.alone) {
    first.result = first.alone();
  } else {
    apply_(group_);
  }
  bool wake = group_.size() > 1;
  // Followers may return, and their requests end, as soon as they are marked: nothing of them is touched
  // afterwards.
  for (size_t i = 1; i < group_.size(); ++i)
    group_[i]->state_.store(WriteRequest::State::kDone, std::memory_order_release);
  {
    MutexLock lock(mutex_);
    CELLAR_ASSERT(busy_);  // until this thread hands over
    if (queue_.empty()) {
      busy_ = false;
    } else {
      WriteRequest* next = queue_.front();
      CELLAR_ASSERT(next->state_.load(std::memory_order_relaxed) == WriteRequest::State::kWaiting);
      queue_.erase(queue_.begin());
      next->state_.store(WriteRequest::State::kLeader, std::memory_order_release);
      wake = true;
    }
  }
  if (wake) turn_->signal();
}

Status WriteGroup::alone(std::function<Status()> work) {
  CELLAR_ASSERT(work != nullptr);
  WriteRequest request;
  request.alone = std::move(work);
  return commit(request);
}

}  // namespace cellar
