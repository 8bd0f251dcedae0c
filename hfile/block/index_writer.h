// IndexEntries and IndexWriter: the block index of a file, from one level to sixteen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hfile/block/block_writer.h"

namespace cellar {

// IndexEntries: (key, place of a block) in order, and their two forms on disk. One thread at a time.
class IndexEntries {
 public:
  void add(std::string_view key, const BlockPlace& place);
  void clear();

  size_t count() const { return places_.size(); }
  bool empty() const { return places_.empty(); }
  // Lives until the next add() or clear().
  std::string_view key(size_t i) const;
  const BlockPlace& place(size_t i) const { return places_[i]; }

  // Bytes of each form.
  uint64_t root_bytes() const { return root_bytes_; }
  uint64_t non_root_bytes() const { return 4 + 4 * (count() + 1) + 12 * count() + keys_.size(); }
  void append_root(std::string& to) const;
  void append_non_root(std::string& to) const;

 private:
  std::string keys_;
  std::vector<size_t> key_ends_;
  std::vector<BlockPlace> places_;
  uint64_t root_bytes_ = 0;
};

// IndexWriter: takes one entry per data block; leaf blocks go out between data blocks, the rest at the end.
// One thread at a time.
class IndexWriter {
 public:
  // `chunk_bytes`: size from which an index block is written. `entries_min`: a root of at most so many
  // entries stays.
  IndexWriter(uint32_t chunk_bytes, uint32_t entries_min);

  void add(std::string_view key, const BlockPlace& data_block);
  // At each data-block boundary: writes the pending entries as a leaf block when they are large enough.
  Status write_due_leaf(BlockWriter& blocks);
  // When the last data block is out: writes the pending entries, unless they can be the root themselves.
  Status close_leaves(BlockWriter& blocks);
  // Writes intermediate levels as needed.
  Status write_intermediate_levels(BlockWriter& blocks);
  // Returns the root block's payload, followed by the middle key of the file if the index has leaves.
  std::string root_payload() const;

  uint32_t levels() const { return levels_; }
  size_t root_entries() const { return root_.count(); }
  // Payload bytes of all leaf and intermediate blocks, and of the latter alone.
  uint64_t leaf_bytes() const { return leaf_bytes_; }
  uint64_t intermediate_bytes() const { return intermediate_bytes_; }
  uint64_t intermediate_blocks() const { return intermediate_blocks_; }

 private:
  struct Middle {
    BlockPlace leaf;
    uint32_t entry = 0;
  };
  Status write_leaf(BlockWriter& blocks);
  Status write_intermediate(BlockWriter& blocks, IndexEntries& entries, IndexEntries& parent);
  Middle middle() const;

  const uint32_t chunk_bytes_;
  const uint32_t entries_min_;
  IndexEntries pending_;  // of the leaf that is being collected
  IndexEntries root_;
  std::vector<uint64_t> entries_until_;  // data blocks up to and with each leaf
  Middle middle_;                        // known when the leaves are closed
  std::string payload_;
  uint32_t levels_ = 1;
  uint64_t leaf_bytes_ = 0;
  uint64_t intermediate_bytes_ = 0;
  uint64_t intermediate_blocks_ = 0;
};

}  // namespace cellar
