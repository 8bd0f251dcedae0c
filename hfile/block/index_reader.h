// IndexReader: the tree of keys that leads to each data block, held in memory node by node as it is touched.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/fetch_lines.h"
#include "cache/block_cache.h"
#include "cell/cell_order.h"
#include "hfile/block/block_reader.h"
#include "hfile/block/memory_meter.h"
#include "hfile/format/row_words.h"

namespace cellar {

// The facts about a node's place in the tree that its parser needs.
struct IndexPlace {
  uint64_t offset = 0;  // of the node's block; for the root the load-on-open section's
  bool children_are_data = false;
  bool meta_order = false;
  bool root_form = false;
  uint32_t entries = 0;  // of a root, from the trailer
};

// FetchHint: an address that reads of a block are likely to touch. It may be gone by then. So it is never
// read, only fetched into the processor's cache while the read waits for the block itself. Any thread.
class FetchHint {
 public:
  void remember(const void* object) {
    const auto address = reinterpret_cast<uintptr_t>(object);
    if (address_.load(std::memory_order_relaxed) != address)
      address_.store(address, std::memory_order_relaxed);
  }
  void fetch() const { fetch_lines(address_.load(std::memory_order_relaxed), 2); }

 private:
  std::atomic<uintptr_t> address_{0};
};

// IndexNode: one block of the index, parsed. Any thread. Immutable, except children and slots, which fill
// with use.
class IndexNode {
 public:
  // Checks everything: sizes, keys, ascending order of keys and offsets, children that lie before their
  // parent (so that no path is a circle). Errors, without a place: kCorruption, and kLimit for a block over
  // the cap.
  static Result<std::unique_ptr<IndexNode>> parse(std::string_view payload, const IndexPlace& place);

  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  bool children_are_data() const { return children_are_data_; }
  uint64_t child_offset(uint32_t i) const { return entries_[i].offset; }
  uint32_t child_disk_bytes(uint32_t i) const { return entries_[i].disk_bytes; }
  // The flat key. Row-only keys of foreign files come as the last key of their row.
  std::string_view key(uint32_t i) const;
  CellView key_view(uint32_t i) const;
  // Returns true if keys bound their blocks only loosely (rows alone, or repeated keys). Cells equal to a key
  // may then also be in the block before it.
  bool loose_keys() const { return loose_keys_; }
  bool row_only_keys() const { return row_only_keys_; }

  // Entries with key ≤ target (`strictly`: < target). The last of them leads to the target.
  uint32_t count_up_to(const CellView& target, bool strictly) const;

  BlockSlot& slot(uint32_t i) const { return slots_[i].slot; }
  // Leads to the cell index of a data block.
  FetchHint& hint(uint32_t i) const { return slots_[i].hint; }
  // Returns true if the i-th child of an inner node is in memory.
  bool has_child(uint32_t i) const { return children_[i].load(std::memory_order_relaxed) != nullptr; }
  uint64_t memory_bytes() const;

 private:
  friend class IndexReader;
  struct Entry {
    uint64_t offset;
    uint32_t disk_bytes;
    uint32_t key_end;  // in keys_; begins where the one before ends
  };
  Status add(uint64_t offset, uint32_t disk_bytes, std::string_view key, const IndexPlace& place);
  Status parse_root_form(std::string_view payload, const IndexPlace& place);
  Status parse_node_form(std::string_view payload, const IndexPlace& place);
  void finish(const IndexPlace& place);

  std::vector<Entry> entries_;
  std::string keys_;
  RowWords words_;  // of the keys' rows; empty in meta order
  bool children_are_data_ = false;
  bool meta_order_ = false;
  bool loose_keys_ = false;
  bool row_only_keys_ = false;
  struct alignas(16) Slot {  // one line of the processor's cache holds all of it
    BlockSlot slot;
    FetchHint hint;
  };
  std::unique_ptr<Slot[]> slots_;                              // of data blocks
  std::unique_ptr<std::atomic<const IndexNode*>[]> children_;  // of nodes
};

// Any thread.
class IndexReader {
 public:
  struct Options {
    uint32_t levels = 1;
    bool meta_order = false;
    uint64_t load_on_open_offset = 0;
    uint32_t root_entries = 0;
  };
  // `blocks` and `meter` are borrowed; `cache` may be null. `root` is the payload of the data root block.
  static Result<std::unique_ptr<IndexReader>> open(const BlockReader* blocks,
                                                   std::shared_ptr<BlockCache> cache, MemoryMeter* meter,
                                                   const Options& options, std::string_view root,
                                                   uint64_t root_offset);
  ~IndexReader();

  const IndexNode& root() const { return *root_; }
  uint32_t levels() const { return options_.levels; }
  bool meta_order() const { return options_.meta_order; }
  // End of the section that data and index blocks below the root lie in.
  uint64_t limit() const { return options_.load_on_open_offset; }
  // The cache's id of a block at this offset; meaningless without a cache.
  uint64_t block_id(uint64_t offset) const { return first_id_ + offset; }

  // The i-th child of an inner node at `depth` (the root's is 0), read when it is not in memory yet. Lives as
  // long as this.
  Result<const IndexNode*> child(const IndexNode& node, uint32_t i, uint32_t depth, ReadStats* stats) const;

 private:
  IndexReader(const BlockReader* blocks, std::shared_ptr<BlockCache> cache, MemoryMeter* meter,
              const Options& options)
      : blocks_(blocks),
        cache_(std::move(cache)),
        first_id_(cache_ != nullptr ? cache_->open_file() : 0),
        meter_(meter),
        options_(options) {}
  void release(const IndexNode* node) const;
  Result<const IndexNode*> load(const IndexNode& node, uint32_t i, uint32_t depth, ReadStats* stats) const;

  const BlockReader* blocks_;
  std::shared_ptr<BlockCache> cache_;
  const uint64_t first_id_;
  MemoryMeter* meter_;
  Options options_;
  const IndexNode* root_ = nullptr;
};

// The target of a search of the index: the last block whose key is …
enum class IndexSearch : uint8_t {
  kUpTo,    // ≤ target; among loose keys < target
  kBefore,  // < target
  kWidest,  // ≤ target, loose or not
};

// IndexCursor: a place among the data blocks of a file. One thread at a time; borrows its reader.
class IndexCursor {
 public:
  explicit IndexCursor(const IndexReader* index) : index_(index) {}

  // When there is no such block valid() is false.
  Status seek(const CellView& target, IndexSearch search, ReadStats* stats);
  // As seek(kUpTo), for a target at or after the current block's key: stays within the current leaf where it
  // can.
  Status seek_forward(const CellView& target, ReadStats* stats);
  Status to_first(ReadStats* stats);
  Status to_last(ReadStats* stats);
  // From a valid place; past either end valid() is false.
  Status next(ReadStats* stats);
  Status previous(ReadStats* stats);

  bool valid() const { return valid_; }
  uint64_t offset() const { return leaf().node->child_offset(leaf().at); }
  uint32_t disk_bytes() const { return leaf().node->child_disk_bytes(leaf().at); }
  CellView key() const { return leaf().node->key_view(leaf().at); }
  BlockSlot& slot() const { return leaf().node->slot(leaf().at); }
  FetchHint& hint() const { return leaf().node->hint(leaf().at); }
  uint64_t block_id() const { return index_->block_id(offset()); }
  // Returns whether this is the file's first data block.
  bool is_first() const {
    CELLAR_DCHECK(valid_);
    uint32_t depth = 0;
    while (depth < index_->levels() && frames_[depth].at == 0) ++depth;
    return depth == index_->levels();
  }
  bool loose_keys() const { return leaf().node->loose_keys(); }
  bool row_only_keys() const { return leaf().node->row_only_keys(); }
  // The key of the block after this one; false when this is the last.
  bool next_key(CellView& key) const;
  // Searches require that a block begins at or after its index key, and before the next one. Error:
  // kCorruption, without a place, if the block here cannot begin with this cell. Checksums do not distinguish
  // a block from another one in its place.
  Status check_first(const CellView& first) const;

 private:
  struct Frame {
    const IndexNode* node;
    uint32_t at;
  };
  const Frame& leaf() const { return frames_[index_->levels() - 1]; }
  Status descend(uint32_t from_depth, bool to_end, ReadStats* stats);

  const IndexReader* index_;
  // A search sets the frames of the levels that it passes; the others are not set.
  std::array<Frame, kIndexDepthMax> frames_;
  bool valid_ = false;
};

}  // namespace cellar
