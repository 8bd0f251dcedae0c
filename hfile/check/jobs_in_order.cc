// JobsInOrder: a queue whose pieces are claimed one by one, by jobs of the executor or by the owner.
#include "hfile/check/jobs_in_order.h"

#include <deque>
#include <utility>

#include "base/mutex.h"

namespace cellar {

struct JobsInOrder::State {
  enum class Stage : uint8_t { kWaiting, kRunning, kDone };
  struct Entry {
    std::unique_ptr<Piece> piece;
    uint64_t bytes = 0;
    Stage stage = Stage::kWaiting;
  };

  explicit State(Executor* given)
      : executor(given), changed(given == nullptr ? nullptr : given->make_event()) {}

  // The first piece that nobody works on, or null. Entries stay where they are in a deque.
  Entry* claim() {
    const MutexLock lock(mutex);
    for (Entry& entry : queue) {
      if (entry.stage != Stage::kWaiting) continue;
      entry.stage = Stage::kRunning;
      return &entry;
    }
    return nullptr;
  }

  // False when no piece waits.
  bool work() {
    Entry* const entry = claim();
    if (entry == nullptr) return false;
    entry->piece->run();
    {
      const MutexLock lock(mutex);
      entry->stage = Stage::kDone;
    }
    changed->signal();
    return true;
  }

  bool first_is(Stage stage) {
    const MutexLock lock(mutex);
    return queue.front().stage == stage;
  }

  bool empty() {
    const MutexLock lock(mutex);
    return queue.empty();
  }

  uint64_t bytes_held() {
    const MutexLock lock(mutex);
    return bytes;
  }

  Executor* const executor;
  const std::unique_ptr<Event> changed;
  Mutex mutex;
  std::deque<Entry> queue CELLAR_GUARDED_BY(mutex);
  uint64_t bytes CELLAR_GUARDED_BY(mutex) = 0;
};

JobsInOrder::JobsInOrder(Executor* executor, uint64_t bytes_max)
    : bytes_max_(bytes_max), state_(std::make_shared<State>(executor)) {}

JobsInOrder::~JobsInOrder() {
  if (state_->executor == nullptr) return;
  while (true) {
    const uint64_t seen = state_->changed->count();
    {
      const MutexLock lock(state_->mutex);
      bool running = false;
      for (State::Entry& entry : state_->queue) {
        running = running || entry.stage == State::Stage::kRunning;
        if (entry.stage == State::Stage::kWaiting) entry.stage = State::Stage::kDone;
      }
      if (!running) {
        state_->queue.clear();
        return;
      }
    }
    state_->changed->wait(seen, -1);
  }
}

void JobsInOrder::add(std::unique_ptr<Piece> piece) {
  State& state = *state_;
  if (state.executor == nullptr) {
    piece->run();
    piece->take();
    return;
  }
  const uint64_t bytes = piece->bytes();
  while (!state.empty() && state.bytes_held() + bytes > bytes_max_) take_first();
  {
    const MutexLock lock(state.mutex);
    state.queue.push_back({std::move(piece), bytes, State::Stage::kWaiting});
    state.bytes += bytes;
  }
  state.executor->submit(JobPriority::kHigh, [shared = state_] { shared->work(); });
}

void JobsInOrder::finish() {
  if (state_->executor == nullptr) return;
  while (!state_->empty()) take_first();
}

void JobsInOrder::take_first() {
  State& state = *state_;
  while (true) {
    const uint64_t seen = state.changed->count();
    if (state.first_is(State::Stage::kDone)) break;
    if (!state.work()) state.changed->wait(seen, -1);
  }
  State::Entry entry;
  {
    const MutexLock lock(state.mutex);
    entry = std::move(state.queue.front());
    state.queue.pop_front();
    state.bytes -= entry.bytes;
  }
  entry.piece->take();
}

}  // namespace cellar
