// BlockPipeline: blocks are worked off in order, and their strings are used again.
#include "hfile/write/block_pipeline.h"

#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/work_in_order.h"

namespace cellar {
namespace {

// The bytes of payloads that are worth a job.
constexpr size_t kBytesWorthAJob = 128 << 10;  // waiting, before another thread is woken
constexpr size_t kBytesPerJob = 1 << 20;       // written, before the executor's other jobs have their turn
constexpr size_t kBytesAhead = 1 << 20;        // waiting, before the pushing thread writes

}  // namespace

struct BlockPipeline::State {
  State(Executor* executor, Write given_write) : write(std::move(given_write)) {
    if (executor == nullptr) return;
    work.emplace(*executor, WorkInOrder<CutBlock>::Limits{kBytesWorthAJob, kBytesPerJob},
                 [this](CutBlock& block) { return write_and_keep(block); });
  }

  Status write_and_keep(CutBlock& block) {
    const Status status = write(block);
    const MutexLock lock(mutex);
    spare.push_back(std::move(block));
    return status;
  }

  const Write write;
  Mutex mutex;
  std::vector<CutBlock> spare CELLAR_GUARDED_BY(mutex);  // written; their strings are used again
  Status failure;                                        // without an executor: of the pushing thread
  std::optional<WorkInOrder<CutBlock>> work;             // last: it ends first
};

BlockPipeline::BlockPipeline(Executor* executor, Write write)
    : state_(std::make_unique<State>(executor, std::move(write))) {}

BlockPipeline::~BlockPipeline() = default;

CutBlock BlockPipeline::blank() {
  CutBlock block;
  const MutexLock lock(state_->mutex);
  if (!state_->spare.empty()) {
    block = std::move(state_->spare.back());
    state_->spare.pop_back();
  }
  block.bloom_keys.clear();
  block.delete_bloom_keys.clear();
  return block;
}

Status BlockPipeline::push(CutBlock block) {
  State& state = *state_;
  if (!state.work) {
    if (state.failure.ok()) state.failure = state.write_and_keep(block);
    return state.failure;
  }
  const size_t bytes = block.bytes();
  CELLAR_TRY(state.work->push(std::move(block), bytes));
  if (state.work->bytes_left() > kBytesAhead) state.work->wait_until_left(kBytesAhead / 2);
  return {};
}

Status BlockPipeline::drain() { return state_->work ? state_->work->drain() : state_->failure; }

uint64_t BlockPipeline::memory_bytes() const {
  uint64_t bytes = state_->work ? state_->work->bytes_left() : 0;
  const MutexLock lock(state_->mutex);
  for (const CutBlock& block : state_->spare) bytes += block.memory_bytes();
  return bytes;
}

}  // namespace cellar
