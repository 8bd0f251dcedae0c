// BlockInSteps: a block that is decompressed from its beginning, as far as its reader goes.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "hfile/block/block.h"
#include "hfile/block/stored_block.h"
#include "hfile/codec/stepwise.h"

namespace cellar {

// One thread at a time, which is the one that made it.
class BlockInSteps {
 public:
  // `block` has room for the payload of `stored`. The codec lives forever.
  BlockInSteps(StoredBlock stored, Block::Made block, const StepwiseCodec& codec);
  ~BlockInSteps();
  BlockInSteps(BlockInSteps&&) noexcept = default;
  BlockInSteps& operator=(BlockInSteps&&) = delete;

  // Returns the block. The first payload().size() bytes of its payload are there.
  const Block& block() const { return *block_; }
  std::string_view payload() const { return block_->payload().substr(0, filled_); }
  bool is_whole() const { return filled_ == block_->payload().size(); }
  // Decompresses a further part of the payload, which is not whole. Earlier bytes stay where they are.
  Status advance();
  // Decompresses the bytes that are missing. Returns the block; it has no pins yet.
  Result<Block*> finish();

 private:
  Status advance_to(size_t bytes);

  StoredBlock stored_;
  Block::Made block_;
  const StepwiseCodec* codec_;
  std::unique_ptr<StepwiseDecompressor> steps_;  // the thread's, null if it was moved away
  size_t filled_ = 0;
  Status fault_;  // of a step: none can follow
};

}  // namespace cellar
