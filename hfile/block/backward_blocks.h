// BackwardBlocks: lets a walk from row to row backward read each block once, and many blocks in one read.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/pin.h"
#include "hfile/block/block_reader.h"

namespace cellar {

// BackwardBlocks: the blocks of one backward walk. The walk goes to and fro between two neighbours, because
// a row may begin in one and end in the other. So the block that it left last is kept, if it came from the
// disk. One thread at a time.
class BackwardBlocks {
 public:
  // The walk leaves the block at `offset` for the one at `to`. Returns the latter if it was kept.
  Pin leave(const Pin& block, uint64_t offset, bool from_disk, uint64_t to) {
    CELLAR_DCHECK(block && offset != to);
    Pin known;
    if (left_ && left_offset_ == to) known = std::move(left_);
    left_ = from_disk ? block : Pin();
    left_offset_ = offset;
    return known;
  }

  // As BlockReader::read(). A long walk also reads a window before the block. A walk is long if it is
  // `sequential`, or if each of its last three blocks lies just before the one read earlier.
  Result<Block*> read(const BlockReader& blocks, uint64_t offset, uint32_t disk_bytes, uint64_t limit,
                      bool sequential, ReadStats* stats) {
    CELLAR_ASSERT(offset <= limit);
    const uint64_t end = offset + disk_bytes;
    const bool goes_on = end <= last_read_ && last_read_ - end <= ReadAhead::kWindowBytesMin;
    steps_ = goes_on ? steps_ + 1 : 0;
    last_read_ = offset;
    const bool is_long = sequential || steps_ >= 2;
    if (ahead_ == nullptr && is_long) ahead_ = std::make_unique<ReadAhead>();
    return blocks.read(offset, disk_bytes, limit, is_long ? ahead_.get() : nullptr, stats,
                       BlockReader::Direction::kBackward);
  }

 private:
  Pin left_;
  uint64_t left_offset_ = 0;
  uint64_t last_read_ = 0;  // offset of the block
  uint32_t steps_ = 0;      // blocks in a row, each before the one read last
  std::unique_ptr<ReadAhead> ahead_;
};

}  // namespace cellar
