// The options of describe() and its result: an HFile described as values. The tools render them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/cell.h"
#include "cellar/file_system.h"
#include "cellar/read_stats.h"
#include "hfile/format/caps.h"
#include "hfile/format/file_info.h"
#include "hfile/format/trailer.h"

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
  std::string type;    // "int32", "int64", "bool", "key", "text", "times" or "bytes"
  bool known = false;  // one of HBase's own keys
};

struct HFileMetaLine {
  std::string name;
  uint64_t offset = 0;
  uint64_t disk_bytes = 0;
  std::optional<uint64_t> payload_bytes;
};

// A chunk of a Bloom filter. How many keys a chunk holds is stored nowhere: it follows from the bits.
struct HFileBloomChunk {
  uint64_t offset = 0;
  uint64_t disk_bytes = 0;
  uint64_t bytes = 0;  // of its bits
  std::string first_key;
  uint64_t bits_set = 0;
  uint64_t keys_estimated = 0;
  double false_positives = 0;  // share of absent keys that it does not deny
  std::string trouble;         // why it cannot be read, or empty
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
  std::string trouble;                      // why it is not used, or empty
  bool flat_keys = false;                   // keys of chunks are flat keys, not rows
  std::vector<HFileBloomChunk> chunk_list;  // with `bloom`
  uint64_t chunks_left_out = 0;             // beyond the limit
};

// An entry of the index, in the order of a walk from its root.
struct HFileIndexLine {
  uint32_t level = 0;    // of the node it stands in; that of the root is 0
  uint64_t entry = 0;    // its number in the node
  std::string leads_to;  // "data", "leaf index", "intermediate index"
  uint64_t offset = 0;
  uint64_t disk_bytes = 0;
  std::string key;      // flat; a lower bound, not always a stored key
  std::string trouble;  // why the node it leads to cannot be read, or empty
};

// One block, as far as it can be read.
struct HFileBlockDetail {
  struct WrongSum {
    uint64_t piece = 0;
    uint32_t stored = 0;
    uint32_t computed = 0;
  };
  uint64_t offset = 0;
  std::optional<uint64_t> ordinal;  // among all blocks, where it was asked for by its number
  std::string kind;                 // "unknown" for another magic
  // Its header, as stored.
  std::string magic;
  uint32_t stored_bytes = 0;  // after the header, checksums included
  uint32_t payload_bytes = 0;
  int64_t previous_offset = -1;
  std::optional<uint8_t> checksum_type;  // these three: not in version 2.0
  uint32_t bytes_per_checksum = 0;
  uint32_t summed_bytes = 0;
  uint64_t header_bytes = 0;
  std::string header_trouble;  // why it cannot be true, or empty; then nothing below is known
  uint64_t disk_bytes = 0;

  std::string checksum;  // "CRC32C", …
  uint64_t sums = 0;
  std::vector<WrongSum> wrong_sums;
  std::string place_trouble;        // why it does not belong here, or empty
  std::string body_trouble;         // why it cannot be decompressed, or empty; then nothing below is known
  std::string encoding;             // of data blocks
  std::optional<uint64_t> entries;  // cells of a data block, entries of an index block
  std::string first_key;            // flat
  std::string last_key;
  std::string entries_trouble;  // why there may be more of them, or empty
  std::vector<Cell> cells;      // with `cells`
  uint64_t cells_left_out = 0;  // beyond the limit
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
  uint64_t trailer_offset = 0;
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
  std::vector<HFileSpace> space;          // with `layout`: all kinds, largest first, the trailer among them
  std::vector<HFileBlockLine> blocks;     // with `blocks`
  uint64_t blocks_left_out = 0;           // beyond the limit
  std::vector<HFileIndexLine> index;      // with `index`
  bool index_complete = true;             // within the limit, and readable
  std::optional<HFileBlockDetail> block;  // with `block`
  std::optional<HFileScan> scan;          // with `scan`
  std::vector<HFileWarning> warnings;

  ReadStats reads;  // bytes_from_disk includes trailer and headers
  uint64_t read_requests = 0;
};

struct DescribeOptions {
  std::string name = {};  // for messages
  bool layout = false;    // read the header of every block
  bool blocks = false;    // list them, data blocks with their number of cells
  bool index = false;     // every entry of the index
  bool bloom = false;     // every chunk of the filters
  bool scan = false;      // walk all cells
  struct BlockChoice {
    bool by_offset = false;  // else by number, among all blocks from the first byte on
    uint64_t value = 0;
  };
  std::optional<BlockChoice> block = std::nullopt;  // one of them in full
  bool cells = false;                               // the block with its cells
  uint64_t list_max = UINT64_MAX;                   // entries of each list above
  uint64_t block_payload_bytes_max = kBlockPayloadBytesMax;
};

}  // namespace cellar
