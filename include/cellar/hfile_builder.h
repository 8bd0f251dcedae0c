// HFileBuilder: writing one HFile without an engine, for HBase's bulk load or for Cellar. Needs no threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/cell.h"
#include "cellar/file_system.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

struct HFileBuilderOptions {
  // "gz" and "none" are readable everywhere, "snappy" and "lz4" where they are installed; "zstd" by Hadoop's
  // codec class, "zstd(framing=hbase)" by those of HBase's own modules
  std::string compression = "none";
  // "row_index_v1": faster gets, a few bytes more per row; "fast_diff", "diff", "prefix": smaller
  std::string encoding = "none";
  std::string bloom = "row";          // or "none", "rowcol", "rowprefix_fixed_length(prefix_length=8)"
  std::string bloom_hash = "murmur";  // or "jenkins", "murmur3"
  double bloom_error_rate = 0.01;     // above 0, below 1
  uint32_t bloom_chunk_bytes =
      131072;  // a filter is cut in chunks of this size, each read on its own; to 4 MiB
  bool delete_family_bloom =
      true;                      // a second filter of the rows with family markers, beside "row" and prefixes
  uint32_t block_bytes = 65536;  // larger: better scans and compression; smaller: cheaper gets
  uint32_t index_chunk_bytes = 131072;  // an index larger than this gets another level; to 32 MiB
  // How index keys are shortened: as HBase "2.5" and later, as "1.0" to 2.4, or not at all as to "0.94"
  std::string separators = "2.5";
  std::string checksum = "crc32c";      // or "crc32", "null": none
  uint32_t bytes_per_checksum = 16384;  // each so many bytes of a block have a sum of their own; 33 or more
  // Sums of the trailer, of what is loaded on opening, and of every block with its place, where other readers
  // skip them. Without them the file is what HBase would write, byte for byte.
  bool trailer_sums = true;
  uint64_t cell_bytes_max = 10u << 20;  // larger cells are refused with kLimit; HBase's own limit is 10 MiB
  bool tags = false;                    // cells may carry tags
  bool compress_tags = false;           // "fast_diff", "diff", "prefix" name repeated ones by number
  bool mvcc = false;                    // keep the cells' sequences; leave it off for a bulk load
  bool replace = false;                 // an existing file of that name may be replaced
  int64_t created_ms = 0;  // creation time, and with bulk_load the load's; milliseconds since the epoch
  bool bulk_load = true;   // marked as HBase's bulk loads are: the load gives all cells one sequence
};

// What a finished file holds.
struct HFileBuilt {
  uint64_t file_bytes = 0;
  uint64_t cells = 0;
  uint64_t rows = 0;
  std::string first_row;  // empty without cells
  std::string last_row;
};

// A file appears under its name, whole and durable, when finish() returns ok; until then, and after a
// failure, the name holds what it held before. (When the very last step fails, making the name durable, it
// may hold the new file.) One thread at a time. After an error every call repeats it.
//
// For completebulkload name the file with 32 lower-case hex digits, in a directory named like the family.
class HFileBuilder {
 public:
  // The directory of `path` must exist. kInvalidArgument (options, a file that exists), kNotSupported,
  // kIoError. `files` outlives the builder.
  static Result<HFileBuilder> create(FileSystem& files, const std::string& path,
                                     const HFileBuilderOptions& options);
  HFileBuilder(HFileBuilder&&) noexcept;
  HFileBuilder& operator=(HFileBuilder&&) noexcept;
  // Removes what was written, unless finish() succeeded.
  ~HFileBuilder();

  // The next cell. Cells come in HBase's order: row, family, qualifier ascending, timestamp and type
  // descending; equal ones may repeat. All have the same family. kInvalidArgument naming both keys, kLimit,
  // kIoError.
  Status add(const Cell& cell);
  // The same for a cell seen in place, as HFileCells and scans of files hand them out.
  Status add_view(const CellView& cell);

  // A fact for the file info; keys that begin with "hfile." and those that say how to decode the file are
  // refused.
  Status set_info(std::string_view key, std::string value);
  // A block of the application's own, read back by HFile::meta_block.
  Status add_meta_block(std::string name, std::string content);

  // Bytes written so far.
  uint64_t bytes() const;

  // Writes the rest, makes it durable and gives the file its name.
  Result<HFileBuilt> finish();

 private:
  struct Impl;
  explicit HFileBuilder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar
