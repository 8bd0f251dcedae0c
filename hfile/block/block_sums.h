// BlockSums: which block stands at which place of a file.
//
// HBase's checksums tell whether a block is whole, not whether it belongs at this place of this file. A block
// of another file or another time passes them. Cellar's writer keeps a sum of each block. The sums of
// neighbouring blocks make a page: a meta block without a name, between the last other block and the
// load-on-open section. The trailer lists the pages with a sum of each. HBase reads neither.
//
//   page  :=  for each block, in file order: varint of its size on disk | u32 block_sum(), little-endian
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"
#include "hfile/block/block.h"
#include "hfile/block/memory_meter.h"
#include "hfile/format/trailer.h"

namespace cellar {

// The sum of the block at `offset`, whose bytes are `disk`. Where its last `checksum_bytes` bytes sum all
// others, those sums and the header stand for them: some tens of bytes are summed. With 0 all bytes are.
uint32_t block_sum(uint64_t offset, std::string_view disk, size_t checksum_bytes);

// The sums of the blocks that a writer has written, in file order from offset 0.
class BlockSumsWriter {
 public:
  // The payload of a page, and the bytes on disk of the blocks whose sums it holds.
  struct Page {
    std::string payload;
    uint64_t covered_bytes = 0;
  };

  void add(uint32_t disk_bytes, uint32_t sum) { blocks_.push_back({disk_bytes, sum}); }
  // Returns the pages, in file order. kLimit if a page would be too large to be read.
  Result<std::vector<Page>> pages() const;

 private:
  static constexpr size_t kPageBlocksMin = 4096;
  static constexpr size_t kPagesMax = 64;  // as many fit into a trailer
  struct Sum {
    uint32_t disk_bytes;
    uint32_t sum;
  };
  std::vector<Sum> blocks_;
};

// Where BlockSums reads its pages from. Any thread.
class BlockSumsSource {
 public:
  // Reads the block at `offset` of `disk_bytes` bytes, which ends at or before `limit`. The caller pins it.
  virtual Result<Block*> read_page(uint64_t offset, uint64_t disk_bytes, uint64_t limit) const = 0;
  // Returns "name: offset N", the place of a failure.
  virtual std::string place(uint64_t offset) const = 0;

 protected:
  ~BlockSumsSource() = default;
};

// The sums of an open file. Any thread. Pages are read at their first use and stay in memory.
class BlockSums {
 public:
  // The checksum that the writer recorded for a place.
  struct Written {
    bool covered = true;  // false: a place in the load-on-open section, which has a sum of its own
    bool begins = true;   // false: no block begins there
    uint32_t sum = 0;     // of the block that begins there
  };

  BlockSums(const std::vector<BlockSumsPage>& pages, uint64_t load_on_open_offset);
  ~BlockSums();

  // From now on pages are charged there. Borrowed; null: nowhere. Before any other thread reads.
  void charge_to(MemoryMeter* meter) { meter_ = meter; }

  // Returns what was written at `offset`. A page that cannot be read from `source` is an error.
  Result<Written> at(uint64_t offset, const BlockSumsSource& source) const;

 private:
  struct Page {
    std::vector<uint64_t> offsets;
    std::vector<uint32_t> sums;
  };
  struct Place {
    uint64_t first_block = 0;  // offset
    uint64_t end_of_blocks = 0;
    uint64_t offset = 0;  // of the page
    uint32_t disk_bytes = 0;
    uint32_t sum = 0;
  };
  Result<const Page*> page(size_t i, const BlockSumsSource& source) const;
  Result<std::unique_ptr<Page>> load(const Place& place, const BlockSumsSource& source) const;

  std::vector<Place> places_;
  uint64_t end_of_blocks_ = 0;
  uint64_t limit_;
  MemoryMeter* meter_ = nullptr;
  std::unique_ptr<std::atomic<const Page*>[]> pages_;
};

}  // namespace cellar
