// BloomWriter: a compound Bloom filter in the making: chunks that go out between data blocks, and their
// index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bloom/bloom_bits.h"
#include "hfile/block/block_writer.h"
#include "hfile/block/index_writer.h"

namespace cellar {

// The content of a full chunk, or of the last one.
struct BloomChunk {
  std::string first_key;
  std::vector<BloomHashes> keys;
};

// One thread at a time; but one may write() what another has taken.
class BloomWriter {
 public:
  // `shape` has room for a key. `comparator`: name of the class that orders the chunks' keys; HBase's is
  // empty for rows.
  BloomWriter(const BloomShape& shape, BloomHash hash, std::string comparator);

  // Inserts a key at or after the one before; the same key again changes nothing.
  void add(std::string_view key);
  // Call at each data-block boundary. Adds the full chunks to `chunks`, to be written after that block.
  void take_due(std::vector<BloomChunk>& chunks);
  // When the last data block is out: everything that is left.
  void take_rest(std::vector<BloomChunk>& chunks);
  // Makes chunks of bits, in the order in which they were taken, and writes them.
  Status write(const std::vector<BloomChunk>& chunks, BlockWriter& blocks);

  uint64_t keys() const { return keys_; }
  // Returns the bytes of the keys of chunks that are not taken yet.
  uint64_t memory_bytes() const;
  // Returns the key of the last add(); valid until the next.
  const std::string& last_key() const { return last_key_; }
  // The meta block's payload, when everything is taken and written.
  std::string meta_payload() const;

 private:
  bool full() const { return current_ && current_->keys.size() >= shape_.keys_max; }
  void begin_chunk(std::string_view key);
  void close_chunk();

  const BloomShape shape_;
  const BloomHash hash_;
  const std::string comparator_;
  std::optional<BloomChunk> current_;
  std::vector<BloomChunk> ready_;  // full ones that no boundary has come by for
  std::string last_key_;
  uint64_t keys_ = 0;

  // The state that only write() uses.
  IndexEntries index_;
  uint64_t keys_max_ = 0;  // capacities of all chunks, folded
  uint64_t bytes_ = 0;     // sizes of all chunks, folded
};

}  // namespace cellar
