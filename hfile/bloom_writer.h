// BloomWriter: a compound Bloom filter in the making: chunks that go out between data blocks, and their
// index.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "bloom/bloom_bits.h"
#include "hfile/block_writer.h"
#include "hfile/index_writer.h"

namespace cellar {

// One thread at a time.
class BloomWriter {
 public:
  // `shape` has room for a key. `comparator`: name of the class that orders the chunks' keys; HBase's is
  // empty for rows.
  BloomWriter(const BloomShape& shape, BloomHash hash, std::string comparator);

  // Inserts a key at or after the one before; the same key again changes nothing.
  void add(std::string_view key);
  // At each data-block boundary: writes the chunks that are full.
  Status write_due_chunks(BlockWriter& blocks);
  // When the last data block is out: writes everything that is left.
  Status close_chunks(BlockWriter& blocks);

  uint64_t keys() const { return keys_; }
  // Of the last add(); lives until the next.
  const std::string& last_key() const { return last_key_; }
  // The meta block's payload, after close_chunks().
  std::string meta_payload() const;

 private:
  struct Chunk {
    BloomBits bits;
    std::string first_key;
  };
  void close_chunk();

  const BloomShape shape_;
  const BloomHash hash_;
  const std::string comparator_;
  std::optional<Chunk> current_;
  std::deque<Chunk> ready_;  // full ones that no boundary has come by for
  std::string last_key_;
  IndexEntries index_;
  uint64_t keys_ = 0;
  uint64_t keys_max_ = 0;  // capacities of all closed chunks, folded
  uint64_t bytes_ = 0;     // sizes of all closed chunks, folded
};

}  // namespace cellar
