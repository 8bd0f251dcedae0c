// HFileBuilder: writes one HFile without an engine, for HBase's bulk load or for Table::ingest. Needs no
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/cell.h"
#include "cellar/file_system.h"
#include "cellar/hfile.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

struct HFileBuilderOptions {
  // Every HBase reads "gz" and "none", and "snappy" and "lz4" if they are installed. Hadoop's codec class
  // reads "zstd", HBase's own modules read "zstd(framing=hbase)"
  std::string compression = "none";
  // "row_index_v1": faster gets, a few bytes more per row; "fast_diff", "diff", "prefix": smaller
  std::string encoding = "none";
  std::string bloom = "row";            // or "none", "rowcol", "rowprefix_fixed_length(prefix_length=8)"
  std::string bloom_hash = "murmur";    // or "jenkins", "murmur3"
  double bloom_error_rate = 0.01;       // above 0, below 1
  uint32_t bloom_chunk_bytes = 131072;  // a filter is stored in chunks of this size, at most 4 MiB
  bool delete_family_bloom =
      true;  // adds a second filter, of the rows with family markers, to "row" and prefix filters
  uint32_t block_bytes = 65536;         // larger: better scans and compression; smaller: cheaper gets
  uint32_t index_chunk_bytes = 131072;  // a larger index gets another level; at most 32 MiB
  // How index keys are shortened: as in HBase "2.5" and later, as in "1.0" to 2.4, or not at all as in "0.94"
  std::string separators = "2.5";
  std::string checksum = "crc32c";      // or "crc32", "null": none
  uint32_t bytes_per_checksum = 16384;  // so many bytes of a block share a checksum; 33 or more
  // Adds checksums of the trailer, of the load-on-open section, and of every block with its place. Other
  // readers skip them. Without them the file is what HBase would write, byte for byte.
  bool trailer_sums = true;
  uint64_t cell_bytes_max = 10u << 20;  // larger cells fail with kLimit; HBase's limit is 10 MiB
  bool tags = false;                    // cells may carry tags
  bool compress_tags = false;           // "fast_diff", "diff" and "prefix" store a repeated tag only once
  bool mvcc = false;                    // keep the sequences of the cells; false for a bulk load
  bool replace = false;                 // an existing file of that name may be replaced
  int64_t created_ms = 0;  // creation time, and with bulk_load the load's; milliseconds since the epoch
  bool bulk_load = true;   // marked as HBase's bulk loads are: the load gives all cells one sequence
};

// HFileBuilder: the file appears under its name, complete and durable, when finish() returns ok. Until then,
// and after a failure, the name refers to what it referred to before. Only if the last step fails, which
// makes the name durable, may it refer to the new file. One thread at a time. After an error every call
// returns it again.
//
// For completebulkload name the file with 32 lower-case hex digits, in a directory named like the family.
class HFileBuilder {
 public:
  // Creates a builder. The directory of `path` must exist, and `files` must outlive the builder.
  // kInvalidArgument for invalid options or an existing file; kNotSupported, kIoError.
  static Result<HFileBuilder> create(FileSystem& files, const std::string& path,
                                     const HFileBuilderOptions& options);
  HFileBuilder(HFileBuilder&&) noexcept;
  HFileBuilder& operator=(HFileBuilder&&) noexcept;
  // Removes what was written, unless finish() succeeded.
  ~HFileBuilder();

  // Adds the next cell. Cells must be in HBase's order: row, family and qualifier ascending, timestamp and
  // type descending. Equal ones may repeat. All have the same family. kInvalidArgument with both keys,
  // kLimit, kIoError.
  Status add(const Cell& cell);
  // The same for a borrowed cell, as HFileCells and Scanner return it.
  Status add_view(const CellView& cell);

  // Adds an entry to the file info. kInvalidArgument for keys that begin with "hfile." or that tell how to
  // decode the file.
  Status set_info(std::string_view key, std::string value);
  // Adds a block of the application. HFile::meta_block reads it.
  Status add_meta_block(std::string name, std::string content);

  // Returns the number of bytes written so far.
  uint64_t bytes() const;

  // Writes the rest, opens the file as a reader does, makes it durable and gives it its name. Returns what
  // the file records about itself.
  Result<HFileFacts> finish();

 private:
  struct Impl;
  explicit HFileBuilder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar
