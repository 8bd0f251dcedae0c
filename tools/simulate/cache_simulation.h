// CacheSimulation: which lookups of a block trace another policy or another size would have found.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/block_trace.h"
#include "cellar/file_system.h"

namespace cellar {

// CacheTrace: a block trace in memory. Blocks are numbered from 0, so that simulations need no hash tables.
struct CacheTrace {
  struct Block {
    uint64_t id = 0;
    uint64_t bytes = 0;  // at its first use; a block does not change
    bool in_memory = false;
  };
  // One use. `number` is that of the block; for kClosed it is that of the file in `files`.
  struct Use {
    uint32_t number = 0;
    BlockUseKind kind = BlockUseKind::kHit;
    uint64_t time_us = 0;
  };

  std::string name;  // for messages
  BlockTraceStart start;
  std::vector<Block> blocks;
  std::vector<Use> uses;
  std::vector<std::vector<uint32_t>> files;  // the blocks of each file that was closed
  uint64_t lookups = 0;
  uint64_t hits = 0;        // that the traced cache had
  uint64_t used_bytes = 0;  // of all lookups
  uint64_t hit_bytes = 0;
  uint64_t distinct_bytes = 0;  // of all blocks: a larger cache is never full
  uint64_t duration_us = 0;
  bool whole = true;        // false: the process did not close its engine
  uint64_t torn_bytes = 0;  // ignored at the end of the file
  uint64_t lost = 0;        // uses that the recorder lost

  bool equal_sizes() const;
};

// Reads a whole trace. Errors: as BlockTraceReader; kLimit for more than 2^32 - 2 blocks.
Result<CacheTrace> read_cache_trace(std::unique_ptr<ReadableFile> file, const std::string& name);

// CacheCounts: the result of a simulation.
struct CacheCounts {
  uint64_t hits = 0;
  uint64_t hit_bytes = 0;
  uint64_t evictions = 0;

  bool operator==(const CacheCounts&) const = default;
};

// Returns what a cache of `capacity_bytes` with a single shard would have found, by the real policy object.
// `policy` is a text for Registry<CachePolicy>. A kHit or kMiss block is inserted if it is not there. A
// kPassed block is not inserted, and a kLoaded one only if there is room. Blocks of closed files leave.
// Error: kInvalidArgument for a wrong text.
Result<CacheCounts> simulate_policy(const CacheTrace& trace, const std::string& policy,
                                    uint64_t capacity_bytes);

}  // namespace cellar
