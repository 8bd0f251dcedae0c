// BloomReader: one of a file's compound Bloom filters: find the chunk for a key, ask it.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "hfile/block/block_reader.h"
#include "hfile/block/memory_meter.h"

namespace cellar {

// The fields of a filter's meta block.
struct BloomFacts {
  uint64_t bytes = 0;  // of all chunks
  uint32_t hashes = 0;
  BloomHash hash = BloomHash::kMurmur;
  uint64_t keys = 0;
  uint64_t keys_max = 0;
  uint32_t chunks = 0;
  std::string comparator;
};

// Any thread. Chunks are read at their first use and stay in memory.
class BloomReader {
 public:
  // `flat_keys`: chunk keys are flat keys in cell order (ROWCOL), else raw bytes. `blocks` and `meter` are
  // borrowed; chunks lie before `limit`. kNotSupported for filters that are to be ignored (other versions,
  // too many hashes), kCorruption.
  static Result<std::unique_ptr<BloomReader>> parse(std::string_view payload, const BlockReader* blocks,
                                                    MemoryMeter* meter, uint64_t limit, bool flat_keys);
  ~BloomReader();

  const BloomFacts& facts() const { return facts_; }
  uint32_t chunks() const { return static_cast<uint32_t>(entries_.size()); }
  uint64_t chunk_offset(uint32_t i) const { return entries_[i].offset; }
  uint32_t chunk_disk_bytes(uint32_t i) const { return entries_[i].disk_bytes; }
  std::string_view chunk_key(uint32_t i) const;

  // False when `key` was not inserted. A chunk that cannot be read is an error.
  Result<bool> test(std::string_view key, ReadStats* stats) const;
  // The same; true when it cannot be known.
  bool may_contain(std::string_view key, ReadStats* stats) const;

  // Returns true if a chunk is in memory.
  bool has_chunk(uint32_t i) const { return loaded_[i].load(std::memory_order_relaxed) != nullptr; }
  // The bits of a chunk; live as long as this.
  Result<std::string_view> chunk(uint32_t i, ReadStats* stats) const;
  // Number of the chunk that would hold `key`, or -1.
  int64_t chunk_of(std::string_view key) const;

  // From now on each chunk's header must name the one before it among `offsets`, those of all chunks of the
  // file's filters, ascending. Before the first question.
  void expect_in_place(std::span<const uint64_t> offsets);

 private:
  struct Entry {
    uint64_t offset;
    uint32_t disk_bytes;
    uint32_t key_end;
  };
  BloomReader(const BlockReader* blocks, MemoryMeter* meter, uint64_t limit, bool flat_keys)
      : blocks_(blocks), meter_(meter), limit_(limit), flat_keys_(flat_keys) {}
  Status parse_chunk_index(std::string_view bytes);
  Result<const Block*> load(uint32_t i, ReadStats* stats) const;
  Status check_place(uint64_t offset) const;

  const BlockReader* blocks_;
  MemoryMeter* meter_;
  uint64_t limit_;
  bool flat_keys_;
  BloomFacts facts_;
  std::vector<Entry> entries_;
  std::string keys_;
  RowWords words_;  // of raw keys
  std::unique_ptr<std::atomic<const Block*>[]> loaded_;
  std::vector<uint64_t> all_chunks_;  // offsets; empty: headers are not asked
};

}  // namespace cellar
