// BlockPipeline: a queue that is worked off by jobs of the executor, or by the pushing thread when it is
// long.
#include "hfile/write/block_pipeline.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"

namespace cellar {
namespace {

// The bytes of payloads that are worth a job.
constexpr size_t kBytesWorthAJob = 128 << 10;  // waiting, before another thread is woken
constexpr size_t kBytesPerJob = 1 << 20;       // written, before the executor's other jobs have their turn
constexpr size_t kBytesAhead = 1 << 20;        // waiting, before the pushing thread does

}  // namespace

struct BlockPipeline::State : std::enable_shared_from_this<State> {
  State(Executor* given_executor, Write given_write)
      : executor(given_executor),
        write(std::move(given_write)),
        changed(executor == nullptr ? nullptr : executor->make_event()) {}

  // Hands the queue to the executor when it is worth it, unless somebody has it or will.
  void summon() {
    CELLAR_ASSERT(executor != nullptr);
    {
      const MutexLock lock(mutex);
      if (working || summoned || queue_bytes < kBytesWorthAJob) return;
      summoned = true;
    }
    executor->submit(JobPriority::kHigh, [state = shared_from_this()] {
      {
        const MutexLock lock(state->mutex);
        CELLAR_ASSERT(state->summoned);
        state->summoned = false;
      }
      state->work(kBytesPerJob);
      state->summon();
    });
  }

  // Writes blocks until none waits or `limit` bytes are written; back at once when another thread is at it.
  void work(size_t limit) {
    {
      const MutexLock lock(mutex);
      if (working) return;
      working = true;
    }
    CutBlock block;
    for (size_t left = limit; take(block, left);) {
      const Status status = write(block);
      const MutexLock lock(mutex);
      spare.push_back(std::move(block));
      if (status.ok()) continue;
      failure = status;
      drop_queue();
    }
    signal();
  }

  // The next block for the thread that works, which may take `left` bytes; false when it is to stop.
  bool take(CutBlock& block, size_t& left) {
    bool enough = false;
    {
      const MutexLock lock(mutex);
      CELLAR_ASSERT(working);
      working = left > 0 && !queue.empty();
      if (!working) return false;
      block = std::move(queue.front());
      queue.pop_front();
      const size_t bytes = block.payload.size();
      CELLAR_ASSERT(queue_bytes >= bytes);
      queue_bytes -= bytes;
      CELLAR_ASSERT(!queue.empty() || queue_bytes == 0);
      left -= std::min(left, bytes);
      enough = waited_for && queue_bytes <= awaited_bytes;
      waited_for = waited_for && !enough;
    }
    if (enough) signal();
    return true;
  }

  // Returns when at most `bytes` wait. If `bytes` is 0, it also waits until no thread works on a block.
  void wait_until_left(size_t bytes) {
    CELLAR_ASSERT(changed != nullptr && mutexes_held() == 0);
    while (true) {
      const uint64_t seen = changed->count();
      bool idle = false;
      {
        const MutexLock lock(mutex);
        if (bytes > 0 ? queue_bytes <= bytes : queue.empty() && !working) return;
        idle = !working;
        waited_for = true;
        awaited_bytes = bytes;
      }
      idle ? work(SIZE_MAX) : changed->wait(seen, -1);
    }
  }

  void drop_queue() CELLAR_REQUIRES(mutex) {
    queue.clear();
    queue_bytes = 0;
  }

  void signal() const {
    if (changed != nullptr) changed->signal();
  }

  Status first_failure() {
    const MutexLock lock(mutex);
    return failure;
  }

  Executor* const executor;
  const Write write;
  const std::unique_ptr<Event> changed;
  Mutex mutex;
  std::deque<CutBlock> queue CELLAR_GUARDED_BY(mutex);
  size_t queue_bytes CELLAR_GUARDED_BY(mutex) = 0;       // of payloads in it
  std::vector<CutBlock> spare CELLAR_GUARDED_BY(mutex);  // written; their strings are used again
  Status failure CELLAR_GUARDED_BY(mutex);
  bool waited_for CELLAR_GUARDED_BY(mutex) = false;   // the pushing thread waits until
  size_t awaited_bytes CELLAR_GUARDED_BY(mutex) = 0;  // so many are left
  bool working CELLAR_GUARDED_BY(mutex) = false;      // a thread has blocks to write
  bool summoned CELLAR_GUARDED_BY(mutex) = false;     // a job is submitted and not begun
};

BlockPipeline::BlockPipeline(Executor* executor, Write write)
    : state_(std::make_shared<State>(executor, std::move(write))) {}

BlockPipeline::~BlockPipeline() {
  if (state_->executor == nullptr) return;
  {
    const MutexLock lock(state_->mutex);
    state_->drop_queue();
  }
  state_->wait_until_left(0);
}

CutBlock BlockPipeline::blank() {
  CutBlock block;
  const MutexLock lock(state_->mutex);
  if (!state_->spare.empty()) {
    block = std::move(state_->spare.back());
    state_->spare.pop_back();
  }
  block.chunks.clear();
  block.delete_chunks.clear();
  return block;
}

Status BlockPipeline::push(CutBlock block) {
  State& state = *state_;
  bool many = false;
  {
    const MutexLock lock(state.mutex);
    if (!state.failure.ok()) return state.failure;
    CELLAR_ASSERT(state.executor != nullptr || state.queue.empty());  // without it each push writes
    state.queue_bytes += block.payload.size();
    state.queue.push_back(std::move(block));
    many = state.queue_bytes > kBytesAhead;
  }
  if (state.executor == nullptr) {
    state.work(SIZE_MAX);
    return state.first_failure();
  }
  state.summon();
  if (many) state.wait_until_left(kBytesAhead / 2);
  return {};
}

Status BlockPipeline::drain() {
  if (state_->executor != nullptr) state_->wait_until_left(0);
  return state_->first_failure();
}

uint64_t BlockPipeline::memory_bytes() const {
  const MutexLock lock(state_->mutex);
  uint64_t bytes = state_->queue_bytes;
  for (const CutBlock& block : state_->spare) bytes += block.payload.capacity();
  return bytes;
}

}  // namespace cellar
