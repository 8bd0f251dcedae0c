// BlockInSteps: a thread keeps its decompressor for the next block of the same codec.
#include "hfile/block/block_in_steps.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

// A cell or some of them. With more, bytes are decompressed that nobody reads; with less, calls take time.
constexpr size_t kStepBytes = 1024;

struct Kept {
  const StepwiseCodec* codec = nullptr;
  std::unique_ptr<StepwiseDecompressor> steps;
};

Kept& kept() {
  thread_local Kept of_thread;
  return of_thread;
}

std::unique_ptr<StepwiseDecompressor> take_steps(const StepwiseCodec& codec) {
  if (kept().codec == &codec && kept().steps != nullptr) return std::move(kept().steps);
  return codec.stepwise();
}

}  // namespace

BlockInSteps::BlockInSteps(StoredBlock stored, Block::Made block, const StepwiseCodec& codec)
    : stored_(std::move(stored)), block_(std::move(block)), codec_(&codec), steps_(take_steps(codec)) {
  CELLAR_ASSERT(steps_ != nullptr && block_->payload().size() == stored_.header.payload_bytes);
  steps_->begin(stored_.body(), block_->payload().size(), block_->buffer());
}

BlockInSteps::~BlockInSteps() {
  if (steps_ != nullptr) kept() = {codec_, std::move(steps_)};
}

Status BlockInSteps::advance_to(size_t bytes) {
  if (!fault_.ok()) return fault_;
  const Result<size_t> filled = steps_->advance(bytes);
  if (!filled.ok()) return fault_ = filled.status();
  CELLAR_ASSERT(*filled >= bytes && *filled <= block_->payload().size());
  filled_ = *filled;
  return {};
}

Status BlockInSteps::advance() {
  CELLAR_ASSERT(!is_whole());
  return advance_to(std::min(filled_ + kStepBytes, block_->payload().size()));
}

Result<Block*> BlockInSteps::finish() {
  CELLAR_TRY(advance_to(block_->payload().size()));
  return block_.release();
}

}  // namespace cellar
