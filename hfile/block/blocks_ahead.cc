// BlocksAhead: two batches, one that the walk uses and one that a thread reads.
#include "hfile/block/blocks_ahead.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/assert.h"
#include "hfile/block/block.h"

namespace cellar {

struct BlocksAhead::Batch {
  enum class State : uint8_t { kWaiting, kBeingRead, kRead };

  std::shared_ptr<ReadAhead> window;
  const BlockReader* blocks = nullptr;
  uint64_t limit = 0;
  std::vector<PlannedBlock> places;
  std::atomic<State> state{State::kWaiting};
  // After the state is kRead, for the walk alone: the blocks before the first failure, as far as there is
  // room for them.
  std::vector<Block::Made> read;
  Status failure;
  size_t taken = 0;

  // Returns whether the caller is the one to read the batch.
  bool begin() {
    State waiting = State::kWaiting;
    return state.compare_exchange_strong(waiting, State::kBeingRead);
  }
};

BlocksAhead::BlocksAhead(const BlockReader& blocks, uint64_t limit, Executor& executor)
    : blocks_(blocks),
      limit_(limit),
      executor_(executor),
      changed_(executor.make_event()),
      window_(std::make_shared<ReadAhead>()) {}

BlocksAhead::~BlocksAhead() { forget(); }

// By the one that began the batch.
void BlocksAhead::work(Batch& batch) {
  CELLAR_ASSERT(batch.read.empty() && batch.failure.ok());
  uint64_t memory = 0;
  for (const PlannedBlock& place : batch.places) {
    Result<Block*> block =
        batch.blocks->read(place.offset, place.disk_bytes, batch.limit, batch.window.get(), nullptr);
    if (!block.ok()) {
      batch.failure = block.status();
      break;
    }
    batch.read.emplace_back(*block);
    memory += (*block)->charge_bytes();
    if (memory >= kBatchMemoryBytes) break;
  }
  batch.state = Batch::State::kRead;
}

void BlocksAhead::expect(std::vector<PlannedBlock> places) {
  CELLAR_ASSERT(wants_places() && !places.empty());
  next_ = std::make_shared<Batch>();
  next_->window = window_;
  next_->blocks = &blocks_;
  next_->limit = limit_;
  next_->places = std::move(places);
  executor_.submit(JobPriority::kHigh, [batch = next_, changed = changed_] {
    if (!batch->begin()) return;
    work(*batch);
    changed->signal();
  });
}

// Returns once the batch was read, by this thread if no other has begun it.
void BlocksAhead::finish(Batch& batch, Event& changed) {
  if (batch.begin()) return work(batch);
  while (true) {
    const uint64_t seen = changed.count();
    if (batch.state == Batch::State::kRead) return;
    changed.wait(seen, -1);
  }
}

// A batch that nobody has begun is never read. The window has one user: it is not used while a thread reads.
void BlocksAhead::forget() {
  current_.reset();
  if (next_ == nullptr) return;
  if (!next_->begin()) finish(*next_, *changed_);
  next_.reset();
}

std::optional<Result<Block*>> BlocksAhead::take(uint64_t offset) {
  const auto at = [offset](const Batch& batch) {
    const auto found = std::ranges::find(batch.places, offset, &PlannedBlock::offset);
    return static_cast<size_t>(found - batch.places.begin());
  };
  if (current_ == nullptr || at(*current_) == current_->places.size()) {
    if (next_ == nullptr || at(*next_) == next_->places.size()) {
      forget();
      return std::nullopt;
    }
    finish(*next_, *changed_);
    current_ = std::exchange(next_, nullptr);
  }
  const size_t index = at(*current_);
  // A walk that goes back, or passes over a block that cannot be read, is on its own.
  const bool failed = !current_->failure.ok();
  if (index < current_->taken || (failed && index > current_->read.size())) {
    forget();
    return std::nullopt;
  }
  current_->taken = index + 1;
  if (index < current_->read.size()) return current_->read[index].release();
  if (failed) return current_->failure;
  const PlannedBlock& place = current_->places[index];
  return blocks_.read(place.offset, place.disk_bytes, limit_, nullptr, nullptr);
}

}  // namespace cellar
