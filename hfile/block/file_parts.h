// FileParts: what an open HFile consists of. HFileReader owns it; cursors, verification and descriptions
// use it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/bloom_type.h"
#include "hfile/block/block_reader.h"
#include "hfile/block/bloom_reader.h"
#include "hfile/block/index_reader.h"
#include "hfile/block/memory_meter.h"
#include "hfile/block/reader_options.h"
#include "hfile/format/cell_format.h"
#include "hfile/format/file_info.h"

namespace cellar {

class BlockEncoding;

// A block of the load-on-open section, for descriptions.
struct SectionBlock {
  uint64_t offset = 0;
  BlockHeader header;
};

struct MetaBlockEntry {
  std::string name;
  uint64_t offset = 0;
  uint32_t disk_bytes = 0;
};

struct FileParts {
  HFileReaderOptions options;
  std::unique_ptr<ReadableFile> file;
  Trailer trailer;
  uint64_t trailer_offset = 0;
  uint32_t end_sum = 0;  // of the load-on-open section and the trailer
  FileInfo info;
  CellFormat format;
  bool meta_order = false;
  std::string encoding_name = "NONE";
  const BlockEncoding* encoding = nullptr;  // null: not built in, `encoding_status` says so
  Status encoding_status;
  std::optional<ChecksumType> checksum;  // of every block; none in v2.0 files

  std::string first_key;  // flat; empty without cells
  std::string last_key;
  CellView first;  // of first_key and last_key
  CellView last;
  bool last_key_in_info = false;

  std::optional<TimestampRange> times;
  std::optional<uint64_t> family_deletes;
  std::optional<int64_t> earliest_put_ts;
  uint64_t max_sequence = 0;

  std::vector<SectionBlock> sections;  // in file order
  std::vector<MetaBlockEntry> meta_blocks;
  std::string bloom_type_name;                  // BLOOM_FILTER_TYPE or empty
  std::shared_ptr<const BloomType> bloom_type;  // null: no plug-in answers for it
  // A filter by rows: the leading bytes of a row that are its key. 0: the type says what the key is.
  size_t bloom_row_bytes = 0;
  std::string last_bloom_key;
  Status bloom_trouble;  // why a filter that is there is not used
  Status delete_bloom_trouble;

  // In order of construction: each borrows from those before it, so they must be destroyed the other way
  // round.
  std::unique_ptr<BlockReader> blocks;
  std::unique_ptr<MemoryMeter> meter;
  std::unique_ptr<IndexReader> index;
  std::unique_ptr<BloomReader> bloom;
  std::unique_ptr<BloomReader> delete_bloom;

  // Returns the number of distinct rows, as a filter of whole rows has counted them; nothing without one.
  std::optional<uint64_t> rows_of_filter() const {
    if (bloom == nullptr || bloom_row_bytes != std::string_view::npos) return std::nullopt;
    return bloom->facts().keys;
  }
};

}  // namespace cellar
