// BloomWriter: a compound Bloom filter in the making: chunks that go out between data blocks, and their
// index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "bloom/bloom_bits.h"
#include "hfile/block/block_writer.h"
#include "hfile/block/index_writer.h"

namespace cellar {

// The keys that the cells of one data block bring, in order.
class BloomKeys {
 public:
  void add(std::string_view key);
  void clear();

  size_t count() const { return ends_.size(); }
  std::string_view key(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  // Returns the last key. There must be one.
  std::string_view last() const {
    CELLAR_DCHECK(!ends_.empty());
    return key(count() - 1);
  }
  uint64_t bytes() const { return bytes_.size() + ends_.size() * sizeof(size_t); }
  // Returns the bytes of memory, with room that is not used.
  uint64_t memory_bytes() const { return bytes_.capacity() + ends_.capacity() * sizeof(size_t); }

 private:
  std::string bytes_;  // one key after the other
  std::vector<size_t> ends_;
};

// One thread at a time adds and takes keys. One thread at a time, perhaps another, writes what was taken: it
// hashes the keys and makes the chunks.
class BloomWriter {
 public:
  // `shape` has room for a key. `comparator`: name of the class that orders the chunks' keys; HBase's is
  // empty for rows.
  BloomWriter(const BloomShape& shape, BloomHash hash, std::string comparator);

  // Adds a key at or after the one before; the same key again changes nothing.
  void add(std::string_view key) {
    if (keys_ == 0 || key != last_key()) add_other(key);
  }
  // Adds a key after the one before, and not equal to it.
  void add_other(std::string_view key) {
    CELLAR_DCHECK(keys_ == 0 || key != last_key());
    added_.add(key);
    ++keys_;
  }
  // Call at each data-block boundary. Puts the keys that were added since the last call in place of those of
  // `keys`, to be written after that block.
  void take(BloomKeys& keys);
  // Call for all that was taken, in order. Writes the chunks that became full.
  Status write(const BloomKeys& keys, BlockWriter& blocks);
  // When the last data block is out, and nothing that was taken is left to write: writes all that is left.
  Status write_rest(BlockWriter& blocks);

  uint64_t keys() const { return keys_; }
  // Returns the bytes of the keys that are not taken yet, and of a chunk's bits.
  uint64_t memory_bytes() const;
  // Returns the key of the last add(); valid until the next add() or take(). Empty before the first one.
  std::string_view last_key() const { return added_.count() > 0 ? added_.last() : taken_key_; }
  // The meta block's payload, when everything is written.
  std::string meta_payload() const;

 private:
  struct Chunk {
    std::string first_key;
    BloomBits bits;
    uint64_t keys = 0;
  };
  bool full() const { return current_ && current_->keys >= shape_.keys_max; }
  void write_key(std::string_view key);
  Status write_ready(BlockWriter& blocks);

  const BloomShape shape_;
  const BloomHash hash_;
  const std::string comparator_;
  BloomKeys added_;
  std::string taken_key_;  // the last one of those that were taken
  uint64_t keys_ = 0;

  // The state that only write() and what follows it use.
  std::optional<Chunk> current_;
  std::vector<Chunk> ready_;  // full ones that no boundary has come by for
  IndexEntries index_;
  uint64_t keys_max_ = 0;  // capacities of all chunks, folded
  uint64_t bytes_ = 0;     // sizes of all chunks, folded
};

}  // namespace cellar
