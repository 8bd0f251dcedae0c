// BlocksAhead: the next blocks of a long walk are read and decompressed on another thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cellar/environment.h"
#include "hfile/block/block_reader.h"

namespace cellar {

// The place of a block, from the index.
struct PlannedBlock {
  uint64_t offset = 0;
  uint32_t disk_bytes = 0;
};

// The walk names the places of the next blocks, a batch at a time. A job of the executor reads one batch
// while the walk uses the batch before. If no thread has begun a batch when the walk needs it, the walk
// reads it. So the blocks and the errors do not depend on the executor. One thread at a time.
class BlocksAhead {
 public:
  static constexpr size_t kBatchBlocks = 16;
  static constexpr uint64_t kBatchBytes = 128u << 10;  // on disk, unless a block is larger
  // In memory, unless a block is larger. The walk reads the rest of such a batch itself.
  static constexpr uint64_t kBatchMemoryBytes = 16u << 20;

  // Borrows `blocks` and `executor`. Blocks end at or before `limit`.
  BlocksAhead(const BlockReader& blocks, uint64_t limit, Executor& executor);
  // Waits for the thread that reads for it. A job that has not begun finds nothing to do when it does.
  ~BlocksAhead();
  BlocksAhead(const BlocksAhead&) = delete;
  BlocksAhead& operator=(const BlocksAhead&) = delete;

  // Returns whether expect() may be called.
  bool wants_places() const { return next_ == nullptr; }
  // Names the blocks that are read after all of those named before. `places` is not empty.
  void expect(std::vector<PlannedBlock> places);

  // Returns the block at `offset`, which has no pins yet, or why it cannot be read. Gives nothing if the
  // block is not expected, or was passed already. All expectations are then forgotten.
  std::optional<Result<Block*>> take(uint64_t offset);

 private:
  struct Batch;
  static void work(Batch& batch);
  static void finish(Batch& batch, Event& changed);
  void forget();

  const BlockReader& blocks_;
  const uint64_t limit_;
  Executor& executor_;
  const std::shared_ptr<Event> changed_;     // a batch was read
  const std::shared_ptr<ReadAhead> window_;  // of the batch that is read
  std::shared_ptr<Batch> current_;           // was read; the walk takes from it
  std::shared_ptr<Batch> next_;              // is read now, or soon
};

}  // namespace cellar
