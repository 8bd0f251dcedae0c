// BlockPipeline: what the writer has cut goes out in order, on a second thread where one is free.
//
// Compressing, summing and appending a block takes about as long as merging and encoding the next. With an
// executor each runs on a core of its own. Nothing depends on a second thread being there: when enough blocks
// wait and nobody works on them, the pushing thread does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cellar/environment.h"
#include "hfile/block/bloom_writer.h"
#include "hfile/format/format.h"

namespace cellar {

// A full data block, and the keys that its cells bring to the Bloom filters.
struct CutBlock {
  BlockKind kind = BlockKind::kData;
  std::string index_key;
  std::string payload;
  uint64_t cells = 0;  // of the file up to the block's end
  uint64_t rows = 0;   // that begin up to there
  BloomKeys bloom_keys;
  BloomKeys delete_bloom_keys;

  uint64_t bytes() const { return payload.size() + bloom_keys.bytes() + delete_bloom_keys.bytes(); }
  // Returns the bytes of memory, with room that is not used.
  uint64_t memory_bytes() const {
    return payload.capacity() + bloom_keys.memory_bytes() + delete_bloom_keys.memory_bytes();
  }
};

// One thread pushes; `write` runs on one thread at a time, for one block after the other.
class BlockPipeline {
 public:
  using Write = std::function<Status(CutBlock&)>;

  // Null `executor`: each push writes at once. Else both are borrowed until the destructor returns.
  BlockPipeline(Executor* executor, Write write);
  // Drops what is not begun, waits for what is. No Mutex may be held, as for push() and drain().
  ~BlockPipeline();

  // An empty block, whose strings may have room from before.
  CutBlock blank();
  // Takes the block. Fails with what `write` failed with, for this block or one before; then all that follow
  // are dropped.
  Status push(CutBlock block);
  // Returns when all blocks are written: what `write` touches is then the caller's own, until the next
  // push().
  Status drain();
  // Returns the bytes of the blocks that wait, and of the memory that is kept for later blocks.
  uint64_t memory_bytes() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace cellar
