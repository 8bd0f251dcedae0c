// HFileWriter: cells in order become one file that HBase opens.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/hash.h"
#include "cell/cell_order.h"
#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "hfile/encoding/encoding.h"
#include "hfile/format/file_info.h"
#include "hfile/format/format.h"

namespace cellar {

// With HBase's settings the bytes are HBase's. The defaults below are HBase's, except where noted.
struct HFileWriterOptions {
  std::string compression = "none";
  std::string encoding = "none";
  uint32_t block_bytes = 65536;  // a data block is cut when its plain size reaches this
  bool tags = false;             // every cell carries a tags length
  bool compress_tags = false;    // delta encodings name repeated tags of a block by number
  bool mvcc = false;             // every cell carries its sequence
  std::string bloom = "none";    // or as make_bloom_type() takes it
  uint32_t bloom_chunk_bytes = 131072;
  float bloom_error_rate = 0.01f;
  uint32_t bloom_fold_max = 7;
  BloomHash bloom_hash = BloomHash::kMurmur;
  bool delete_family_bloom = true;  // in addition to a general filter that is not ROWCOL, as HBase does
  uint32_t index_chunk_bytes = 131072;
  uint32_t index_entries_min = 16;
  ChecksumType checksum = ChecksumType::kCrc32c;
  uint32_t bytes_per_checksum = kBytesPerChecksum;
  SeparatorRule separators = SeparatorRule::kHBase25;
  int64_t create_time_ms = 0;
  std::string comparator{kStandardComparator};
  uint64_t cell_bytes_max = 10u << 20;  // larger cells are refused with kLimit
  bool trailer_sums = false;    // Cellar's own sums, of the file's end and of every block, which HBase skips
  bool cell_counts = false;     // CellCounts and kEarliestDelete in the file info, which HBase passes over
  bool store_file_info = true;  // TIMERANGE, EARLIEST_PUT_TS, DELETE_FAMILY_COUNT from the cells written
};

// A summary of the written file, for the manifest and for people.
struct HFileSummary {
  uint64_t file_bytes = 0;
  uint64_t cells = 0;
  uint64_t puts = 0;
  uint64_t deletes = 0;
  uint64_t family_deletes = 0;
  uint64_t version_deletes = 0;  // Delete and DeleteFamilyVersion
  uint64_t rows = 0;
  uint64_t data_blocks = 0;
  std::string first_key;  // flat keys; empty when there are no cells
  std::string last_key;
  TimestampRange times;  // as TIMERANGE: with 0 where a marker reaches back
  int64_t earliest_put_ts = INT64_MAX;
  int64_t earliest_delete_ts = INT64_MAX;
  uint64_t sequence_min = UINT64_MAX;
  uint64_t sequence_max = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint32_t trailer_crc32c = 0;  // of the load-on-open section and the trailer
};

// One thread at a time. After any error the writer is dead and repeats it, at the latest in finish(); the
// file is then the caller's to remove.
class HFileWriter {
 public:
  // `file` is borrowed until finish() or destruction, and must be new and empty. Errors: kInvalidArgument,
  // kNotSupported. An `executor`, borrowed as long as the file, compresses and writes blocks in jobs of high
  // priority when a thread is free. The bytes are the same.
  static Result<std::unique_ptr<HFileWriter>> create(WritableFile& file, const HFileWriterOptions& options,
                                                     Executor* executor = nullptr);
  virtual ~HFileWriter() = default;

  // The next cell: at or after the one before in key order (kInvalidArgument naming both keys), of the same
  // family, within HBase's limits (kInvalidArgument, kLimit).
  Status add(const CellView& cell) { return add_cells({&cell, 1}); }
  // Adds several cells as add() adds one. After an error, some of them may be in the file.
  virtual Status add_cells(std::span<const CellView> cells) = 0;

  // A fact for the file info, over those the writer makes itself; keys beginning with "hfile." are reserved.
  virtual Status set_info(std::string_view key, std::string value) = 0;
  // A meta block of the application's own.
  virtual Status add_meta_block(std::string name, std::string content) = 0;

  // Bytes of all blocks that are full, for splitting outputs. Waits for those under way.
  virtual uint64_t bytes_written() = 0;

  // Returns the bytes of the buffers. These are the block that is being filled, full blocks that wait for
  // their turn, and the keys of the Bloom filters. Does not wait.
  virtual uint64_t memory_bytes() const = 0;

  // Writes everything that is left. The caller syncs and closes the file.
  virtual Result<HFileSummary> finish() = 0;
};

}  // namespace cellar
