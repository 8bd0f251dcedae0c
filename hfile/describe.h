// describe: what an HFile is, as values; the tools render it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/file_system.h"
#include "cellar/read_stats.h"
#include "hfile/file_info.h"
#include "hfile/trailer.h"

namespace cellar {

// Something a reader of the file should know; the code is stable ("W-COMPARATOR-OLD").
struct HFileWarning {
  std::string code;
  std::string text;
};

// All blocks of one kind. The last entry of a layout is the trailer, which is not a block.
struct HFileSpace {
  std::string kind;  // "data", "leaf index", "bloom chunk", "root index", "meta index", "trailer", …
  uint64_t blocks = 0;
  uint64_t disk_bytes = 0;
  uint64_t payload_bytes = 0;  // decompressed
};

struct HFileBlockLine {
  uint64_t ordinal = 0;  // among all blocks of the file
  std::string kind;
  uint64_t offset = 0;
  uint64_t disk_bytes = 0;
  uint64_t payload_bytes = 0;
  int64_t previous_offset = -1;
  std::optional<uint64_t> cells;  // of a data block that could be decoded
  std::string
      index_key;  // flat, of a data block that the index names; a lower bound, not always a stored key
};

struct HFileInfoLine {
  std::string key;
  std::string value;   // as stored
  std::string text;    // by the key's type, or escaped; long values are cut with "…"
  bool known = false;  // one of HBase's own keys
};

struct HFileMetaLine {
  std::string name;
  uint64_t offset = 0;
  uint64_t disk_bytes = 0;
  std::optional<uint64_t> payload_bytes;
};

struct HFileBloomLine {
  bool present = false;
  std::string type;           // "ROW", …; of the delete-family filter empty
  uint64_t prefix_bytes = 0;  // of the row, where only so many are hashed
  std::string hash;           // "MURMUR", "JENKINS", "MURMUR3"
  uint32_t hashes = 0;
  uint64_t keys = 0;
  uint64_t keys_max = 0;
  uint64_t chunks = 0;
  uint64_t bytes = 0;  // of all chunks, decompressed
  std::string last_key;
  std::string trouble;  // why it is not used, or empty
};

// Counted by walking all cells.
struct HFileScan {
  uint64_t cells = 0;
  uint64_t rows = 0;
  uint64_t puts = 0;
  uint64_t deletes = 0;
  int64_t timestamp_min = INT64_MAX;
  int64_t timestamp_max = INT64_MIN;
  uint64_t tagged_cells = 0;
  uint64_t max_sequence = 0;
  std::vector<std::string> families;  // at most 16
};

struct HFileDescription {
  std::string name;
  uint64_t file_bytes = 0;
  // Ok, or why what follows is not everything: kNotSupported (version, codec, encryption, encoding),
  // kCorruption.
  Status status;

  bool has_trailer = false;
  Trailer trailer;
  std::string version;     // "3.3"; known even of files that cannot be read
  std::string codec;       // "GZ"
  std::string comparator;  // as stored
  bool meta_order = false;

  bool has_file_info = false;  // everything below needs the load-on-open section
  std::string encoding;        // "NONE", …
  uint64_t cells = 0;
  std::optional<int32_t> average_key_bytes;
  std::optional<int32_t> average_value_bytes;
  bool tags = false;
  bool tags_compressed = false;
  std::optional<int32_t> max_tags_bytes;
  bool mvcc = false;
  std::optional<int64_t> max_mvcc;
  std::string first_key;  // flat keys; empty without cells
  std::string last_key;
  std::optional<TimestampRange> times;
  std::optional<uint64_t> family_deletes;
  std::optional<int64_t> earliest_put_ts;
  std::optional<int64_t> create_time_ms;  // 0 is absent
  std::optional<int64_t> max_sequence;
  std::optional<bool> major_compaction;
  std::optional<int64_t> bulk_load_time_ms;

  std::string checksum;  // "CRC32C", "CRC32", "NULL", or "none" in v2.0 files
  uint32_t bytes_per_checksum = 0;
  uint32_t index_levels = 0;
  uint64_t root_entries = 0;
  uint64_t root_disk_bytes = 0;
  uint64_t root_payload_bytes = 0;
  std::optional<uint64_t> data_blocks;  // of one index level, or counted by a layout
  std::optional<uint64_t> data_disk_bytes;
  std::optional<uint64_t> data_payload_bytes;
  HFileBloomLine bloom;
  HFileBloomLine delete_bloom;

  std::vector<HFileInfoLine> file_info;
  std::vector<HFileMetaLine> meta_blocks;
  std::vector<HFileSpace> space;       // with `layout`: all kinds, largest first, the trailer among them
  std::vector<HFileBlockLine> blocks;  // with `blocks`
  uint64_t blocks_left_out = 0;        // beyond the limit
  std::optional<HFileScan> scan;       // with `scan`
  std::vector<HFileWarning> warnings;

  ReadStats reads;  // bytes_from_disk includes trailer and headers
  uint64_t read_requests = 0;
};

struct DescribeOptions {
  std::string name = {};  // for messages
  bool layout = false;    // read the header of every block
  bool blocks = false;    // list them, data blocks with their number of cells
  uint64_t blocks_max = UINT64_MAX;
  bool scan = false;  // walk all cells
};

// As much as can be known. Fails only when the bytes are no HFile at all (is_not_an_hfile) or cannot be read
// (kIoError).
Result<HFileDescription> describe(std::unique_ptr<ReadableFile> file, const DescribeOptions& options);

}  // namespace cellar
