// BlockReader: a place in a file becomes a Block: header checked, sums compared, payload decompressed.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "cellar/compressor.h"
#include "cellar/file_system.h"
#include "cellar/read_stats.h"
#include "hfile/block/block.h"
#include "hfile/block/block_header.h"
#include "hfile/block/block_in_steps.h"
#include "hfile/block/block_sums.h"
#include "hfile/block/stored_block.h"
#include "hfile/format/trailer.h"

namespace cellar {

// ReadAhead: a window over the file that serves neighbouring blocks from one read. One thread at a time.
class ReadAhead {
 public:
  static constexpr size_t kWindowBytesMin = 128u << 10;
  static constexpr size_t kWindowBytesMax = 1u << 20;

  // Returns the bytes [offset, offset + bytes) of the file, which end at or before `limit`; valid until the
  // next call. Also reads up to a window after them, never beyond `limit`. The window doubles from read to
  // read.
  Result<std::string_view> get(const ReadableFile& file, uint64_t offset, size_t bytes, uint64_t limit);
  // The same for a walk towards the beginning of the file: also reads up to a window before the bytes.
  Result<std::string_view> get_backward(const ReadableFile& file, uint64_t offset, size_t bytes);
  // Tells the system that these bytes, and a window of bytes after or before them, are read in a mapping.
  void announce(const ReadableFile& file, uint64_t offset, uint64_t bytes, uint64_t limit);
  void announce_backward(const ReadableFile& file, uint64_t offset, uint64_t bytes);

 private:
  bool has(uint64_t offset, size_t bytes) const {
    return offset >= start_ && offset - start_ <= filled_ && filled_ - (offset - start_) >= bytes;
  }
  void widen() { window_bytes_ = std::min(window_bytes_ * 2, kWindowBytesMax); }
  void keep(size_t from, size_t bytes, size_t to, size_t wanted);

  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t filled_ = 0;
  uint64_t start_ = 0;
  size_t window_bytes_ = kWindowBytesMin;
  uint64_t announced_begin_ = 0;  // of a mapping
  uint64_t announced_end_ = 0;
};

// The fault in a block's checksums; for reports.
struct ChecksumFault {
  size_t chunk = 0;
  uint32_t stored = 0;
  uint32_t computed = 0;
};

// CheckedBlocks: which blocks of a mapped file were found whole and in their place. They are not checked
// again. Any thread.
class CheckedBlocks {
 public:
  explicit CheckedBlocks(uint64_t file_bytes)
      : count_(file_bytes / (kUnitBytes * 64) + 1),
        words_(std::make_unique<std::atomic<uint64_t>[]>(count_)) {}

  uint64_t memory_bytes() const { return count_ * sizeof words_[0]; }
  bool has(uint64_t offset, size_t disk_bytes) const {
    return disk_bytes >= kUnitBytes && (word(offset).load(std::memory_order_relaxed) & bit(offset)) != 0;
  }
  void add(uint64_t offset, size_t disk_bytes) {
    if (disk_bytes >= kUnitBytes) word(offset).fetch_or(bit(offset), std::memory_order_relaxed);
  }

 private:
  // Smaller blocks are checked each time, so that two blocks never share a bit.
  static constexpr uint64_t kUnitBytes = 1024;
  std::atomic<uint64_t>& word(uint64_t offset) const { return words_[offset / (kUnitBytes * 64)]; }
  static uint64_t bit(uint64_t offset) { return uint64_t{1} << (offset / kUnitBytes % 64); }

  const size_t count_;
  const std::unique_ptr<std::atomic<uint64_t>[]> words_;
};

// Any thread; immutable after agree_on_checksum().
class BlockReader final : private BlockSumsSource {
 public:
  struct Options {
    std::string name;  // for places
    uint64_t payload_bytes_max = kBlockPayloadBytesMax;
    bool require_crc32c = false;
    bool in_memory = false;
    // Blocks pass whose sums in the file cannot be read: for salvage.
    bool pass_without_sums = false;
  };
  // `file` and `codec` are borrowed. A null codec can read headers only.
  BlockReader(const ReadableFile* file, const Trailer& trailer, const Compressor* codec, Options options);

  // From here on every block must carry this type: one flipped bit must not turn verification off. Before any
  // other thread reads.
  void agree_on_checksum(std::optional<ChecksumType> type) { agreed_ = type; }

  // From here on blocks that were read before are read in this mapping of the file. Before any other thread
  // reads.
  void read_from(std::shared_ptr<const char> mapping) {
    CELLAR_ASSERT(mapping != nullptr);
    checked_ = std::make_unique<CheckedBlocks>(file_->size());
    mapping_ = std::move(mapping);
  }
  // Returns whether blocks lie in the mapping: the file is mapped and has no codec.
  bool lends_blocks() const { return mapping_ != nullptr && plain_; }
  // Returns the bytes of memory of this object that depend on the size of the file.
  uint64_t memory_bytes() const { return checked_ != nullptr ? checked_->memory_bytes() : 0; }

  // From here on the memory of block sums is charged to `meter`, which is borrowed. Before any other thread
  // reads.
  void charge_sums_to(MemoryMeter* meter) {
    if (sums_ != nullptr) sums_->charge_to(meter);
  }

  // The header in `bytes`, of the block at `offset` that must end at or before `limit`.
  Result<BlockHeader> parse_header(std::string_view bytes, uint64_t offset, uint64_t limit) const;
  // The header alone, from the file.
  Result<BlockHeader> read_header(uint64_t offset, uint64_t limit) const;

  // Ok when all sums of the whole block `disk` agree; `fault` (may be null) says what did not.
  Status check_sums(std::string_view disk, const BlockHeader& header, uint64_t offset,
                    ChecksumFault* fault) const;
  // Ok when the whole block `disk` is the one that was written at `offset` of this file; always in files
  // without block sums.
  Status check_place(std::string_view disk, const BlockHeader& header, uint64_t offset) const;

  // The block of these bytes, whose header is `header`; its sums were checked before, or do not count.
  Result<Block*> decode(std::string_view disk, const BlockHeader& header, uint64_t offset) const;

  // The block of these bytes, which were read from `offset`: header, sums, kind, decompression.
  Result<Block*> unpack(std::string_view disk, uint64_t offset, uint64_t limit) const;

  // Reads the block at `offset`. `disk_bytes` is its whole size as the index knows it, 0 when unknown;
  // another size in the header is corruption. With `ahead`, reads through its window, which lies in the
  // direction of the walk. Counts into `stats` (may be null). The block has no pins yet: give it to a Pin or
  // a cache.
  enum class Direction : uint8_t { kForward, kBackward };
  Result<Block*> read(uint64_t offset, uint64_t disk_bytes, uint64_t limit, ReadAhead* ahead,
                      ReadStats* stats, Direction direction = Direction::kForward) const;

  // Returns whether the codec can decompress in steps.
  bool works_in_steps() const { return steps_ != nullptr; }
  // Reads and checks the block as read() does, and decompresses none of it yet. Only if works_in_steps().
  Result<BlockInSteps> read_in_steps(uint64_t offset, uint64_t disk_bytes, uint64_t limit,
                                     ReadStats* stats) const;

  // Tells the system that a long walk comes to this block, and to those after it, in the mapping. Only if the
  // mapping lends blocks.
  void announce(uint64_t offset, uint64_t disk_bytes, uint64_t limit, ReadAhead& ahead,
                Direction direction) const {
    CELLAR_DCHECK(lends_blocks());
    if (direction == Direction::kForward) return ahead.announce(*file_, offset, disk_bytes, limit);
    ahead.announce_backward(*file_, offset, disk_bytes);
  }

  size_t header_bytes() const { return header_bytes_; }
  // The largest whole block that is read at all.
  uint64_t disk_bytes_max() const;
  const ReadableFile& file() const { return *file_; }
  // "name: offset N", the place of a failure.
  std::string place(uint64_t offset) const override;
  Status corruption(uint64_t offset, std::string message) const;

 private:
  // The header of the whole block `disk`; its size agrees.
  Result<BlockHeader> check_header(std::string_view disk, uint64_t offset, uint64_t limit) const;
  // The same, and its sums and place agree.
  Result<BlockHeader> check(std::string_view disk, uint64_t offset, uint64_t limit) const;
  // BlockSumsSource.
  Result<Block*> read_page(uint64_t offset, uint64_t disk_bytes, uint64_t limit) const override {
    return read(offset, disk_bytes, limit, nullptr, nullptr);
  }
  Result<Block*> decompress(std::string_view disk, const BlockHeader& header, uint64_t offset) const;
  // The same as check(), but a block of the mapping that was found sound before is not summed again.
  Result<BlockHeader> check_once(std::string_view disk, uint64_t offset, uint64_t limit) const;
  // Checks the arguments of a read, and counts it. Returns the size of the block.
  Result<size_t> begin_read(uint64_t offset, uint64_t disk_bytes, uint64_t limit, ReadStats* stats) const;
  Result<StoredBlock> read_stored(uint64_t offset, size_t bytes, uint64_t limit) const;
  // The block of these checked bytes. It lies in the mapping, if the mapping lends blocks.
  Result<Block*> lend_or_decode(std::string_view disk, const BlockHeader& header, uint64_t offset) const;
  Result<std::string_view> read_window(uint64_t offset, size_t bytes, uint64_t limit, ReadAhead& ahead,
                                       Direction direction) const;
  Status check_sizes(const BlockHeader& header, uint64_t offset) const;

  const ReadableFile* file_;
  const Compressor* codec_;
  bool plain_;                  // codec NONE: the body is the payload
  const StepwiseCodec* steps_;  // null if the codec cannot decompress in steps
  size_t header_bytes_;
  Options options_;
  std::optional<ChecksumType> agreed_;
  std::unique_ptr<BlockSums> sums_;         // null: the file has none
  std::shared_ptr<const char> mapping_;     // of the file; null: blocks are copied
  std::unique_ptr<CheckedBlocks> checked_;  // in the mapping
};

}  // namespace cellar
