// HFileReader: an open HFile: its facts, its Bloom test, its cursors.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "cache/block_cache.h"
#include "cell/cell_codec.h"
#include "cell/cursor.h"
#include "cellar/file_system.h"
#include "cellar/read_stats.h"
#include "hfile/block/reader_options.h"
#include "hfile/format/cell_format.h"
#include "hfile/format/file_info.h"
#include "hfile/format/trailer.h"

namespace cellar {

struct FileParts;
class RowCursor;

// Any thread; immutable apart from caches. Held by shared_ptr; cursors hold their file.
class HFileReader : public std::enable_shared_from_this<HFileReader> {
 public:
  // Reads the trailer and the load-on-open section, checks them, and finds the first key. kCorruption,
  // kNotSupported, kIoError; the place names `name` and the offset.
  static Result<std::shared_ptr<HFileReader>> open(std::unique_ptr<ReadableFile> file,
                                                   HFileReaderOptions options);
  ~HFileReader();

  const Trailer& trailer() const;
  // Without them damage in a block cannot always be told from data: version 2.0, and checksum type NULL.
  bool has_checksums() const;
  const FileInfo& info() const;
  const std::string& name() const;
  uint64_t file_bytes() const;
  // Returns the bytes of memory of the open file. The cache counts its index and Bloom filters.
  uint64_t memory_bytes() const;
  const ReadableFile& file() const;  // open, though its name may be gone

  uint64_t cells() const;
  // Returns the average number of cells of a row, rounded up; 0 if the file does not tell.
  uint32_t cells_per_row() const { return cells_per_row_; }
  CellFormat cell_format() const;
  std::string_view encoding_name() const;
  // Rows of the first and last cell; empty strings for a file without cells. No row of a part is outside
  // them.
  std::string_view first_row() const;
  std::string_view last_row() const;
  // Flat keys; first_key may be a separator in foreign files whose index begins with one, last_key is
  // hfile.LASTKEY.
  std::string_view last_key() const;
  // TIMERANGE; nullopt: unknown, the file cannot be skipped by time.
  std::optional<TimestampRange> times() const;
  // DELETE_FAMILY_COUNT; nullopt: unknown.
  std::optional<uint64_t> family_deletes() const;
  uint64_t max_sequence() const;  // MAX_SEQ_ID_KEY or the override, else 0
  bool meta_order() const;        // sorted by hbase:meta's comparator

  // These functions ask the Bloom filters. A damaged filter, or one of a type that cannot answer, returns
  // true. Each counts into `stats`; the first three also count the file as skipped.
  //
  // False only when a read of one row cannot find anything here: outside the key range or not in the filter.
  bool may_contain_row(std::string_view row, ReadStats* stats) const;
  // The same for a read of these columns alone (qualifiers, sorted); none: of all.
  bool may_contain_columns(std::string_view row, std::span<const std::string> columns,
                           ReadStats* stats) const;
  // The same for a row within the rows of the file: asks the filter alone.
  bool filter_allows(std::string_view row, std::span<const std::string> columns, ReadStats* stats) const;
  // False only when no row from `low` (inclusive) to `high` is here, for all that the filter of row prefixes
  // knows. An empty bound is open.
  bool may_contain_rows(std::string_view low, std::string_view high, bool high_inclusive,
                        ReadStats* stats) const;
  // False only when the file holds no marker that covers all columns of this row.
  bool may_contain_family_markers(std::string_view row, ReadStats* stats) const;

  // A cursor over all cells; any number of them, each for one thread at a time.
  std::unique_ptr<RunCursor> cursor(const FileCursorOptions& options) const;

  // Returns whether reads of one row look for it in the cache (find_row), and keep it there. A cache that
  // never had to evict a block keeps no rows. Neither does a part of a file, nor a file in the order of
  // hbase:meta.
  bool keeps_rows() const { return row_cache_ != nullptr && row_cache_->keeps_rows(); }
  // Looks for the row in the cache. Call only if keeps_rows(). Counts a row that it finds into `stats`, which
  // may be null. The cursor borrows the row, and the owner of the cursor keeps the file open.
  std::unique_ptr<RowCursor> find_row(std::string_view row, ReadStats* stats) const;
  // Returns `row`, the cursor of find_row(), ready to be read. If the cache does not have the row, the cursor
  // reads the file. The options must allow to fill the cache.
  std::unique_ptr<RunCursor> row_cursor(std::unique_ptr<RowCursor> row, FileCursorOptions options) const;

  // CRC32C of the load-on-open section and the trailer, as HFileSummary::trailer_crc32c.
  uint32_t end_sum() const;

  // Implementation, for the parts of this folder.
  const FileParts& parts() const { return *parts_; }

 private:
  explicit HFileReader(std::unique_ptr<FileParts> parts);
  void count_cells_per_row();

  std::unique_ptr<FileParts> parts_;
  BlockCache* row_cache_ = nullptr;  // the file's cache, if rows of the file may be kept there
  uint32_t cells_per_row_ = 0;
  const uint64_t number_ = BlockCache::number_file();
};

}  // namespace cellar
