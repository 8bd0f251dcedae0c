// LookAhead: names the blocks that a long walk comes to next, so that another thread reads them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "hfile/block/blocks_ahead.h"
#include "hfile/block/index_reader.h"

namespace cellar {

// LookAhead: the blocks of one walk that are read on another thread, and the place in the index of the first
// that is not. One thread at a time. Borrows its arguments, except that it copies the place.
class LookAhead {
 public:
  LookAhead(const BlockReader& blocks, const IndexReader& index, Executor& executor, const IndexCursor& from)
      : blocks_(blocks, index.limit(), executor), named_(from) {
    CELLAR_ASSERT(from.valid());
  }

  // Names the next blocks to the thread that reads ahead: at first from the place on, later after those that
  // were named.
  void name_places() {
    if (!blocks_.wants_places()) return;
    std::vector<PlannedBlock> places;
    uint64_t bytes = 0;
    while (!over_ && places.size() < BlocksAhead::kBatchBlocks && bytes < BlocksAhead::kBatchBytes) {
      places.push_back({named_.offset(), named_.disk_bytes()});
      bytes += places.back().disk_bytes;
      // An index that cannot be read is an error when the walk comes to it.
      over_ = !named_.next(nullptr).ok() || !named_.valid();
    }
    if (!places.empty()) blocks_.expect(std::move(places));
  }

  // As BlocksAhead::take().
  std::optional<Result<Block*>> take(uint64_t offset) { return blocks_.take(offset); }

 private:
  BlocksAhead blocks_;
  IndexCursor named_;
  bool over_ = false;  // no block is left to be named
};

}  // namespace cellar
