// WalkBlocks: how a walk through a file gets its blocks: one by one, many in one read, or backward.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "hfile/block/backward_blocks.h"
#include "hfile/block/file_parts.h"

namespace cellar {

// The blocks of one cursor. One thread at a time. All calls have the same file and options, and the place of
// the block that the cursor comes to.
class WalkBlocks {
 public:
  // The cursor searches, or goes on to the next block.
  void begin_anew() { borders_ = 0; }
  void cross_border() { borders_ += 1; }
  // The cursor has found the block in the cache. If it lies in the mapping of its file, the system may have
  // dropped its pages. A long walk then tells the system that it comes to this block, and to those after it.
  void note_hit(const FileParts& parts, const FileCursorOptions& options, const IndexCursor& place) {
    if (!parts.blocks->lends_blocks() || !is_long(options)) return;
    if (ahead_ == nullptr) ahead_ = std::make_unique<ReadAhead>();
    parts.blocks->announce(
        place.offset(), place.disk_bytes(), parts.index->limit(), *ahead_,
        options.backward ? BlockReader::Direction::kBackward : BlockReader::Direction::kForward);
  }

  // Returns the block at `to`, which the walk goes to from another one, if it was kept; else an empty pin.
  Pin leave(const Pin& block, uint64_t offset, bool from_disk, uint64_t to) {
    return backward_ != nullptr && block ? backward_->leave(block, offset, from_disk, to) : Pin();
  }

  // Reads the block. It has no pins yet.
  Result<Block*> read(const FileParts& parts, const FileCursorOptions& options, const IndexCursor& place) {
    if (options.backward) {
      if (backward_ == nullptr) backward_ = std::make_unique<BackwardBlocks>();
      return backward_->read(*parts.blocks, place.offset(), place.disk_bytes(), parts.index->limit(),
                             options.sequential, options.stats);
    }
    if (ahead_ == nullptr && is_long(options)) ahead_ = std::make_unique<ReadAhead>();
    return parts.blocks->read(place.offset(), place.disk_bytes(), parts.index->limit(),
                              is_long(options) ? ahead_.get() : nullptr, options.stats);
  }

 private:
  // After two borders in a row a walk is taken for a long one.
  static constexpr uint32_t kBordersOfLong = 2;
  bool is_long(const FileCursorOptions& options) const {
    return options.sequential || borders_ >= kBordersOfLong;
  }

  uint32_t borders_ = 0;  // crossed since the last search
  std::unique_ptr<ReadAhead> ahead_;
  std::unique_ptr<BackwardBlocks> backward_;  // of a backward walk, once it has read a block
};

}  // namespace cellar
