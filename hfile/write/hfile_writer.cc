// HFileWriter: the recipe of a file: cells into data blocks, index and Bloom blocks between them, the rest at
// the end.
#include "hfile/write/hfile_writer.h"
#include "hfile/format/comparator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "bloom/bloom_types.h"
#include "cell/cell_codec.h"
#include "hfile/block/block_writer.h"
#include "hfile/block/bloom_writer.h"
#include "hfile/block/file_parts.h"
#include "hfile/block/index_writer.h"
#include "hfile/codec/codecs.h"
#include "hfile/format/trailer.h"
#include "hfile/read/cell_counts.h"
#include "hfile/write/block_pipeline.h"

namespace cellar {
namespace {

constexpr uint32_t kBlockBytesOptionMax = 32u << 20;
constexpr uint64_t kCellBytesOptionMax = 128u << 20;
constexpr std::string_view kReservedPrefix = "hfile.";

// Facts that tell readers how to decode the file; nobody else may say them.
constexpr std::string_view kOwnKeys[] = {
    info_key::kKeyValueVersion,    info_key::kMaxMvcc,    info_key::kDataBlockEncoding,
    info_key::kIndexBlockEncoding, info_key::kBloomType,  info_key::kBloomParam,
    info_key::kLastBloomKey,       info_key::kCellCounts, info_key::kEarliestDelete};

// The parts that the options name, looked up and checked.
struct Parts {
  HFileWriterOptions options;
  std::shared_ptr<const Compressor> compressor;
  const BlockEncoding* encoding = nullptr;
  std::shared_ptr<const BloomType> bloom_type;  // null: no filter
  bool bloom_per_row = false;                   // all cells of a row have the same Bloom key
  BloomShape bloom_shape;
};

Status check_options(const HFileWriterOptions& options) {
  if (options.block_bytes < 1 || options.block_bytes > kBlockBytesOptionMax) {
    return Status::invalid_argument(fmt::format("block_bytes is {}: 1 to 32 MiB", options.block_bytes));
  }
  if (options.bytes_per_checksum < kBlockHeaderBytes || options.bytes_per_checksum > INT32_MAX) {
    return Status::invalid_argument(
        fmt::format("bytes_per_checksum is {}: {} or more", options.bytes_per_checksum, kBlockHeaderBytes));
  }
  if (options.checksum > ChecksumType::kCrc32c) return Status::invalid_argument("unknown type of checksum");
  if (options.index_chunk_bytes < 1 || options.index_chunk_bytes > kBlockBytesOptionMax ||
      options.index_entries_min < 1) {
    return Status::invalid_argument("index_chunk_bytes is 1 to 32 MiB, index_entries_min at least 1");
  }
  if (options.cell_bytes_max < 1 || options.cell_bytes_max > kCellBytesOptionMax) {
    return Status::invalid_argument(
        fmt::format("cell_bytes_max is {}: 1 to 128 MiB", options.cell_bytes_max));
  }
  if (options.comparator.size() > kComparatorBytesMax)
    return Status::invalid_argument("comparator: name too long");
  if (is_meta_comparator(options.comparator))
    return Status::not_supported("files in the order of hbase:meta or -ROOT- can be read, not written")
        .hinting("cellar dump --format jsonl shows the cells, which load puts into a table");
  if (!is_standard_comparator(options.comparator))
    return Status::not_supported(
        fmt::format("comparator {}: HBase cannot open a file with it", escaped(options.comparator)));
  return {};
}

Status choose_bloom(Parts& parts) {
  const HFileWriterOptions& options = parts.options;
  CELLAR_TRY_ASSIGN(parts.bloom_type, make_bloom_type(options.bloom));
  if (parts.bloom_type == nullptr) return {};
  std::string key;
  parts.bloom_per_row = parts.bloom_type->key_of_row("r", key);
  if (!(options.bloom_error_rate > 0 && options.bloom_error_rate < 1) || options.bloom_fold_max > 20 ||
      options.bloom_chunk_bytes < 1 || options.bloom_chunk_bytes > kBloomChunkBytesMax) {
    return Status::invalid_argument("Bloom: error rate between 0 and 1, folds to 20, chunks of 1 B to 4 MiB");
  }
  if (options.bloom_hash > BloomHash::kMurmur3) return Status::invalid_argument("unknown Bloom hash");
  // A filter of columns is asked twice per read, for the column and for the row's markers: each gets half the
  // rate.
  const double rate = options.bloom_error_rate;
  const float rate_once =
      parts.bloom_per_row ? options.bloom_error_rate : static_cast<float>(1 - std::sqrt(1 - rate));
  parts.bloom_shape = bloom_shape(options.bloom_chunk_bytes, rate_once, options.bloom_fold_max);
  if (parts.bloom_shape.keys_max == 0 || parts.bloom_shape.bytes > kBloomChunkBytesMax ||
      parts.bloom_shape.hashes > kBloomHashesMax) {
    return Status::invalid_argument(fmt::format(
        "Bloom: chunks of {} B with error rate {} need {} hashes for {} keys", parts.bloom_shape.bytes,
        options.bloom_error_rate, parts.bloom_shape.hashes, parts.bloom_shape.keys_max));
  }
  return {};
}

Result<Parts> choose_parts(const HFileWriterOptions& options) {
  Parts parts;
  parts.options = options;
  CELLAR_TRY(check_options(options));
  CELLAR_TRY_ASSIGN(parts.compressor, make_compressor(options.compression));
  CELLAR_TRY_ASSIGN(parts.encoding, encoding_by_name(options.encoding));
  CELLAR_TRY(choose_bloom(parts));
  return parts;
}

class Writer final : public HFileWriter {
 public:
  Writer(WritableFile& file, Parts parts, Executor* executor);

  Status add_cells(std::span<const CellView> cells) override;
  Status set_info(std::string_view key, std::string value) override;
  Status add_meta_block(std::string name, std::string content) override;
  uint64_t bytes_written() override;
  uint64_t memory_bytes() const override;
  Result<HFileSummary> finish() override;

 private:
  // How a cell relates to the one before.
  enum class Change : uint8_t { kRow, kKey, kNothing, kFamily, kBackwards };
  static Change change_between(const CellView& before, const CellView& cell);
  Status fail(Status status) { return failure_ = std::move(status); }
  static Status finished_already() { return Status::invalid_argument("the file is finished"); }
  Status add_to_block(const CellView& cell, const CellView& before);
  Status check_alone(const CellView& cell) const;
  Status check_room(const CellView& cell) const;
  static Status explain(const CellView& before, const CellView& cell, Change change);
  void add_to_blooms(const CellView& cell, bool new_row);
  void count(const CellView& cell);
  void count_delete(const CellView& cell);
  void remember(const CellView& cell);
  size_t plain_bytes(const CellView& cell) const;
  bool block_full() const;
  Status cut_block();
  Status write_block(const CutBlock& block);
  Status write_all();
  Status write_meta_blocks(IndexEntries& index);
  FileInfo make_info() const;

  const Parts parts_;
  std::optional<BloomWriter> bloom_;
  std::optional<BloomWriter> delete_bloom_;
  const bool bloom_rows_;       // the keys of the filter are whole rows
  const bool plain_encoding_;   // the encoder's sizes are the plain ones
  const bool tags_compressed_;  // as the file info says: encodings that keep no dictionary do not heed it
  std::unique_ptr<BlockEncoder> encoder_;
  const uint64_t block_bytes_max_;  // of a payload that our readers take

  std::string block_key_;  // index key of the block being filled
  uint64_t block_plain_bytes_ = 0;
  CellView last_;         // the cell before; key only, in last_key_
  std::string last_key_;  // grows only
  std::string scratch_;
  uint64_t tags_bytes_max_ = 0;

  std::map<std::string, std::string> meta_blocks_;
  FileInfo user_info_;
  uint64_t info_bytes_ = 0;
  HFileSummary summary_;
  Status failure_;  // the first; repeated ever after
  bool finished_ = false;

  // The state that write_block() uses, on any thread, until the pipeline is drained.
  BlockWriter blocks_;
  IndexWriter index_;
  CellCountsWriter counts_;
  Trailer trailer_;
  BlockPipeline pipeline_;  // last: it ends first
};

Writer::Writer(WritableFile& file, Parts parts, Executor* executor)
    : parts_(std::move(parts)),
      bloom_rows_(parts_.bloom_type != nullptr && parts_.bloom_type->keys_are_rows() &&
                  parts_.bloom_type->prefix_bytes() == 0),
      plain_encoding_(parts_.encoding->id() == 0),
      tags_compressed_(parts_.options.tags && parts_.options.compress_tags && !plain_encoding_),
      encoder_(parts_.encoding->make_encoder(
          {.tags = parts_.options.tags, .mvcc = parts_.options.mvcc, .tags_compressed = tags_compressed_})),
      block_bytes_max_(std::max(kBlockPayloadBytesMax, 2 * parts_.options.cell_bytes_max)),
      blocks_(file, *parts_.compressor, parts_.options.checksum, parts_.options.bytes_per_checksum),
      index_(parts_.options.index_chunk_bytes, parts_.options.index_entries_min),
      pipeline_(executor, [this](const CutBlock& block) { return write_block(block); }) {
  if (parts_.options.trailer_sums) blocks_.keep_block_sums();
  if (parts_.bloom_type == nullptr) return;
  const BloomHash hash = parts_.options.bloom_hash;
  const bool rows = parts_.bloom_per_row;
  bloom_.emplace(parts_.bloom_shape, hash, rows ? "" : "org.apache.hadoop.hbase.CellComparatorImpl");
  if (parts_.options.delete_family_bloom && rows) delete_bloom_.emplace(parts_.bloom_shape, hash, "");
}

// Returns whether the index key sorts after the cell before the block, and not after the block's first cell.
[[maybe_unused]] bool separates(std::string_view index_key, const CellView& before, const CellView& first) {
  CellView key;
  return parse_flat_key(index_key.data(), index_key.size(), key) && compare_keys(before, key) < 0 &&
         compare_keys(key, first) <= 0;
}

// ---- Adding a cell: everything here runs once per cell ----

Status Writer::add_cells(std::span<const CellView> cells) {
  if (!failure_.ok()) return failure_;
  if (finished_) return finished_already();
  if (cells.empty()) return {};
  CELLAR_DCHECK(summary_.cells == 0 || last_.key == last_key_.data());
  const CellView* before = &last_;
  for (const CellView& cell : cells) {
    Status status = check_alone(cell);
    if (status.ok()) status = add_to_block(cell, *before);
    if (!status.ok()) [[unlikely]]
      return fail(std::move(status));
    before = &cell;
  }
  for (const CellView& cell : cells) count(cell);
  remember(cells.back());
  return {};
}

// Adds the cell that comes after `before`, or the first one of the file.
Status Writer::add_to_block(const CellView& cell, const CellView& before) {
  const Change change = summary_.cells == 0 ? Change::kRow : change_between(before, cell);
  CELLAR_DCHECK(summary_.cells == 0 || change == Change::kFamily ||
                (compare_keys(before, cell) > 0) == (change == Change::kBackwards));
  if (change >= Change::kFamily) return explain(before, cell, change);
  const bool new_row = change == Change::kRow;
  add_to_blooms(cell,
                new_row);  // before the block is cut: HBase counts this key among those of the block before
  if (summary_.cells == 0) {
    block_key_.assign(
        cell.key_bytes());  // the file's first index key is a real key; readers take the first row from it
    summary_.first_key.assign(cell.key_bytes());
  } else if (change != Change::kNothing) {
    if (block_full()) {  // equal keys share a block
      CELLAR_TRY(cut_block());
      shortest_separator(parts_.options.separators, before, cell, block_key_);
      CELLAR_DCHECK(separates(block_key_, before, cell));
    }
  } else {
    CELLAR_TRY(check_room(cell));
  }
  encoder_->add(cell);
  block_plain_bytes_ += plain_bytes(cell);
  summary_.cells += 1;
  summary_.rows += new_row ? 1 : 0;
  return {};
}

// The limits of one cell. The quick test here says yes or no; check_cell finds the words.
Status Writer::check_alone(const CellView& cell) const {
  const HFileWriterOptions& options = parts_.options;
  const bool fine =
      cell.row_size >= 1 && cell.row_size <= kRowBytesMax && cell.family_size <= kFamilyBytesMax &&
      cell.key_size <= kKeyBytesMax && is_stored_type(cell.cell_type) && cell.timestamp >= 0 &&
      uint64_t{cell.key_size} + cell.value_size + cell.tags_size <= options.cell_bytes_max &&
      (cell.tags_size == 0 ||
       (options.tags && cell.tags_size <= kTagsBytesMax && tags_well_formed(cell.tags_bytes()))) &&
      (!options.mvcc || cell.sequence <= static_cast<uint64_t>(INT64_MAX));
  if (fine) return {};
  const CellLimits limits{
      .value_bytes_max = options.cell_bytes_max, .empty_family_ok = true, .latest_timestamp_ok = true};
  CELLAR_TRY(check_cell(cell, limits));
  if (cell.tags_size > 0 && !options.tags) {
    return Status::invalid_argument("a cell with tags, but the file is written without: " + key_text(cell));
  }
  if (options.mvcc && cell.sequence > static_cast<uint64_t>(INT64_MAX)) {
    return Status::invalid_argument(
        fmt::format("sequence {} is beyond 2^63-1: {}", cell.sequence, key_text(cell)));
  }
  return Status::limit(fmt::format("a cell of {} key, {} value and {} tags bytes (limits: key {}, all {})",
                                   cell.key_size, cell.value_size, cell.tags_size, kKeyBytesMax,
                                   options.cell_bytes_max));
}

Writer::Change Writer::change_between(const CellView& before, const CellView& cell) {
  if (same_sizes(before, cell)) {
    const uint32_t at = first_difference(before, cell);
    if (at < end_of_columns(before, cell)) {
      if (at >= 2u + cell.row_size && at < 3u + cell.row_size + cell.family_size) return Change::kFamily;
      if (static_cast<uint8_t>(before.key[at]) > static_cast<uint8_t>(cell.key[at]))
        return Change::kBackwards;
      if (at >= 2u + cell.row_size) return Change::kKey;
      return same_family(before, cell) ? Change::kRow : Change::kFamily;
    }
  }
  if (const int rows = compare_bytes(before.row(), cell.row()); rows != 0) {
    if (rows > 0) return Change::kBackwards;
    return same_family(before, cell) ? Change::kRow : Change::kFamily;
  }
  if (!same_family(before, cell)) return Change::kFamily;
  if (const int qualifiers = compare_bytes(before.qualifier(), cell.qualifier()); qualifiers != 0) {
    return qualifiers > 0 ? Change::kBackwards : Change::kKey;
  }
  if (before.timestamp != cell.timestamp) {
    return before.timestamp < cell.timestamp ? Change::kBackwards : Change::kKey;
  }
  if (before.cell_type == cell.cell_type) return Change::kNothing;
  return before.cell_type < cell.cell_type ? Change::kBackwards : Change::kKey;
}

Status Writer::explain(const CellView& before, const CellView& cell, Change change) {
  CELLAR_ASSERT(change == Change::kFamily || change == Change::kBackwards);
  const std::string_view what =
      change == Change::kFamily ? "a file holds a single family, but" : "out of order:";
  return Status::invalid_argument(
      fmt::format("{} {} comes after {}", what, key_text(cell), key_text(before)));
}

// A run of equal keys makes one block, which must stay within what readers take.
Status Writer::check_room(const CellView& cell) const {
  constexpr uint64_t around_cells = 64 << 10;  // what an encoding adds for a block of one key
  if (block_plain_bytes_ + plain_bytes(cell) + around_cells <= block_bytes_max_) return {};
  return Status::limit(
      fmt::format("cells of the one key {} fill {} bytes", key_text(cell), block_plain_bytes_));
}

size_t Writer::plain_bytes(const CellView& cell) const {
  size_t bytes = size_t{8} + cell.key_size + cell.value_size;
  if (parts_.options.tags) bytes += size_t{2} + cell.tags_size;
  if (parts_.options.mvcc) bytes += hadoop_vint_bytes(static_cast<int64_t>(cell.sequence));
  return bytes;
}

bool Writer::block_full() const {
  const uint64_t limit = parts_.options.block_bytes;
  return block_plain_bytes_ >= limit || (!plain_encoding_ && encoder_->encoded_bytes() >= limit);
}

void Writer::add_to_blooms(const CellView& cell, bool new_row) {
  if (bloom_ && (new_row || !parts_.bloom_per_row)) {
    if (bloom_rows_) {
      bloom_->add_other(cell.row());
    } else {
      bloom_->add(parts_.bloom_type->key_of(cell, scratch_));
    }
  }
  if (delete_bloom_ && covers_family(cell.cell_type)) delete_bloom_->add(cell.row());
}

void Writer::count(const CellView& cell) {
  HFileSummary& sum = summary_;
  sum.key_bytes += cell.key_size;
  sum.value_bytes += cell.value_size;
  sum.times.min = std::min(sum.times.min, cell.timestamp);
  sum.times.max = std::max(sum.times.max, cell.timestamp);
  sum.sequence_min = std::min(sum.sequence_min, cell.sequence);
  sum.sequence_max = std::max(sum.sequence_max, cell.sequence);
  tags_bytes_max_ = std::max<uint64_t>(tags_bytes_max_, cell.tags_size);
  if (cell.cell_type == CellType::kPut) {
    sum.puts += 1;
    sum.earliest_put_ts = std::min(sum.earliest_put_ts, cell.timestamp);
  } else {
    count_delete(cell);
  }
}

void Writer::count_delete(const CellView& cell) {
  CELLAR_DCHECK(is_delete(cell.cell_type));
  HFileSummary& sum = summary_;
  sum.deletes += 1;
  sum.earliest_delete_ts = std::min(sum.earliest_delete_ts, cell.timestamp);
  sum.family_deletes += covers_family(cell.cell_type) ? 1 : 0;
  if (cell.cell_type == CellType::kDeleteColumn || cell.cell_type == CellType::kDeleteFamily) {
    sum.times.min = std::min<int64_t>(sum.times.min, 0);  // it reaches back to the beginning of time
    sum.times.max = std::max<int64_t>(sum.times.max, 0);
  } else {
    sum.version_deletes += 1;
  }
}

// Keeps the key, for the caller's bytes are gone by the next call.
void Writer::remember(const CellView& cell) {
  if (last_key_.size() < cell.key_size) last_key_.resize(std::max<size_t>(2 * cell.key_size, 256));
  std::copy_n(cell.key, cell.key_size, last_key_.data());
  last_ = cell;
  last_.key = last_key_.data();
  last_.value = last_.tags = nullptr;
  last_.value_size = last_.tags_size = 0;
}

// ---- Between blocks ----

Status Writer::cut_block() {
  CELLAR_ASSERT(summary_.cells > 0 && block_plain_bytes_ > 0 && !block_key_.empty());
  CELLAR_DCHECK(encoder_->plain_bytes() == block_plain_bytes_);
  CutBlock block = pipeline_.blank();
  block.kind = plain_encoding_ ? BlockKind::kData : BlockKind::kEncodedData;
  block.index_key.assign(block_key_);
  block.cells = summary_.cells;
  block.rows = summary_.rows;
  encoder_->finish(block.payload);
  if (bloom_) bloom_->take(block.bloom_keys);
  if (delete_bloom_) delete_bloom_->take(block.delete_bloom_keys);
  summary_.data_blocks += 1;
  block_plain_bytes_ = 0;
  return pipeline_.push(std::move(block));
}

// The second half of a block's way, run by the pipeline.
Status Writer::write_block(const CutBlock& block) {
  CELLAR_TRY_ASSIGN(const BlockPlace place, blocks_.write(block.kind, block.payload));
  CELLAR_ASSERT(place.offset == 0 || static_cast<int64_t>(place.offset) > trailer_.last_data_block_offset);
  if (place.offset == 0)
    trailer_.first_data_block_offset = 0;  // a file begins with a data block, if it has any
  trailer_.last_data_block_offset = static_cast<int64_t>(place.offset);
  index_.add(block.index_key, place);
  counts_.add({place.offset + place.disk_bytes, block.cells, block.rows});
  CELLAR_TRY(index_.write_due_leaf(blocks_));
  if (bloom_) CELLAR_TRY(bloom_->write(block.bloom_keys, blocks_));
  if (delete_bloom_) CELLAR_TRY(delete_bloom_->write(block.delete_bloom_keys, blocks_));
  return {};
}

uint64_t Writer::bytes_written() {
  static_cast<void>(pipeline_.drain());  // a failure is told by the next add()
  return blocks_.offset();
}

uint64_t Writer::memory_bytes() const {
  const uint64_t blooms =
      (bloom_ ? bloom_->memory_bytes() : 0) + (delete_bloom_ ? delete_bloom_->memory_bytes() : 0);
  return encoder_->encoded_bytes() + pipeline_.memory_bytes() + blooms + info_bytes_;
}

// ---- Facts and blocks of the application ----

Status Writer::set_info(std::string_view key, std::string value) {
  if (!failure_.ok()) return failure_;
  if (finished_) return finished_already();
  if (key.empty() || key.starts_with(kReservedPrefix) || std::ranges::count(kOwnKeys, key) > 0) {
    return fail(
        Status::invalid_argument(fmt::format("file info \"{}\" cannot be set by callers", escaped(key))));
  }
  info_bytes_ += key.size() + value.size() + 16;
  if (info_bytes_ > kFileInfoBytesMax / 2 || user_info_.entries().size() > kFileInfoEntriesMax / 2) {
    return fail(Status::limit("the file info would become too large"));
  }
  user_info_.set(key, std::move(value));
  return {};
}

Status Writer::add_meta_block(std::string name, std::string content) {
  if (!failure_.ok()) return failure_;
  if (finished_) return finished_already();
  if (name.empty() || name.size() > kMetaNameBytesMax || content.size() > kBlockBytesOptionMax) {
    return fail(Status::invalid_argument(
        fmt::format("meta block: a name of 1 to {} bytes, a content of up to 32 MiB", kMetaNameBytesMax)));
  }
  const auto [at, added] = meta_blocks_.try_emplace(std::move(name), std::move(content));
  return added ? Status() : fail(Status::invalid_argument("a second meta block " + escaped(at->first)));
}

// ---- The end of the file ----

Result<HFileSummary> Writer::finish() {
  if (!failure_.ok()) return failure_;
  if (finished_) return finished_already();
  finished_ = true;
  failure_ = write_all();
  if (!failure_.ok()) return failure_;
  return summary_;
}

Status Writer::write_all() {
  CELLAR_ASSERT(finished_ && summary_.puts + summary_.deletes == summary_.cells);
  CELLAR_ASSERT(summary_.rows <= summary_.cells && (summary_.rows == 0) == (summary_.cells == 0));
  if (summary_.cells > 0) {
    CELLAR_TRY(cut_block());
    summary_.last_key.assign(last_.key_bytes());
  }
  CELLAR_TRY(pipeline_.drain());
  CELLAR_ASSERT((summary_.data_blocks == 0) == (summary_.cells == 0));
  CELLAR_TRY(index_.close_leaves(blocks_));
  if (bloom_) CELLAR_TRY(bloom_->write_rest(blocks_));
  if (delete_bloom_) CELLAR_TRY(delete_bloom_->write_rest(blocks_));

  IndexEntries meta_index;
  CELLAR_TRY(write_meta_blocks(meta_index));
  CELLAR_TRY(index_.write_intermediate_levels(blocks_));

  if (parts_.options.trailer_sums) {
    CELLAR_TRY_ASSIGN(trailer_.block_sums, blocks_.finish_block_sums());
  }
  CELLAR_TRY(blocks_.begin_sum());
  const std::string root = index_.root_payload();
  CELLAR_TRY_ASSIGN(const BlockPlace root_place, blocks_.write(BlockKind::kRootIndex, root));
  std::string meta_root;
  meta_index.append_root(meta_root);
  CELLAR_TRY(blocks_.write(BlockKind::kRootIndex, meta_root).status());
  CELLAR_TRY_ASSIGN(const BlockPlace info_place, blocks_.write(BlockKind::kFileInfo, make_info().encode()));
  if (bloom_ && bloom_->keys() > 0) {
    CELLAR_TRY(blocks_.write(BlockKind::kBloomMeta, bloom_->meta_payload()).status());
  }
  if (delete_bloom_ && delete_bloom_->keys() > 0) {
    CELLAR_TRY(blocks_.write(BlockKind::kDeleteBloomMeta, delete_bloom_->meta_payload()).status());
  }

  trailer_.load_on_open_offset = root_place.offset;
  trailer_.file_info_offset = info_place.offset;
  trailer_.uncompressed_data_index_bytes = index_.leaf_bytes() + index_.intermediate_bytes() + root.size();
  // HBase counts neither intermediate blocks nor the data root, but the trailer.
  trailer_.total_uncompressed_bytes = blocks_.uncompressed_bytes() + trailer_.trailer_bytes() -
                                      index_.intermediate_bytes() - root.size() -
                                      kBlockHeaderBytes * (index_.intermediate_blocks() + 1);
  CELLAR_ASSERT(trailer_.total_uncompressed_bytes <= blocks_.uncompressed_bytes() + trailer_.trailer_bytes());
  CELLAR_ASSERT(root_place.offset < info_place.offset);
  trailer_.data_index_count = static_cast<uint32_t>(index_.root_entries());
  trailer_.meta_index_count = static_cast<uint32_t>(meta_index.count());
  trailer_.entry_count = summary_.cells;
  trailer_.data_index_levels = index_.levels();
  trailer_.comparator = parts_.options.comparator;
  trailer_.codec = parts_.compressor->id();
  if (parts_.options.trailer_sums) {
    CELLAR_TRY(blocks_.flush());
    trailer_.section_sum = blocks_.sum();
  }
  blocks_.append(encode_trailer(trailer_));
  CELLAR_TRY(blocks_.flush());
  summary_.file_bytes = blocks_.offset();
  summary_.trailer_crc32c = blocks_.sum();
  return {};
}

Status Writer::write_meta_blocks(IndexEntries& index) {
  for (const auto& [name, content] : meta_blocks_) {
    CELLAR_TRY_ASSIGN(const BlockPlace place, blocks_.write(BlockKind::kMeta, content));
    index.add(name, place);
  }
  return {};
}

FileInfo Writer::make_info() const {
  const HFileWriterOptions& options = parts_.options;
  const HFileSummary& sum = summary_;
  CELLAR_ASSERT(sum.last_key.empty() == (sum.cells == 0));
  CELLAR_ASSERT(options.tags || tags_bytes_max_ == 0);  // else readers would not find the tags
  FileInfo info;
  if (options.store_file_info) {
    info.set_time_range(sum.times);
    info.set_i64(info_key::kEarliestPut, sum.earliest_put_ts);
    info.set_i64(info_key::kDeleteFamilyCount, static_cast<int64_t>(sum.family_deletes));
  }
  for (const auto& [key, value] : user_info_.entries()) info.set(key, value);

  const uint64_t cells = std::max<uint64_t>(sum.cells, 1);
  if (sum.cells > 0) info.set(info_key::kLastKey, sum.last_key);
  info.set_i32(info_key::kAvgKeyLen, static_cast<int32_t>(sum.key_bytes / cells));
  info.set_i32(info_key::kAvgValueLen, static_cast<int32_t>(sum.value_bytes / cells));
  info.set_i64(info_key::kCreateTime, options.create_time_ms);
  if (options.tags) {
    info.set_i32(info_key::kMaxTagsLen, static_cast<int32_t>(tags_bytes_max_));
    info.set_bool(info_key::kTagsCompressed, tags_compressed_);
  }
  if (options.mvcc) {
    info.set_i32(info_key::kKeyValueVersion, 1);
    info.set_i64(info_key::kMaxMvcc, static_cast<int64_t>(sum.sequence_max));
  }
  if (options.cell_counts && sum.cells > 0) info.set(info_key::kCellCounts, counts_.encode());
  if (options.cell_counts && sum.deletes > 0) info.set_i64(info_key::kEarliestDelete, sum.earliest_delete_ts);
  if (!plain_encoding_) info.set(info_key::kDataBlockEncoding, std::string(parts_.encoding->name()));
  if (bloom_ && bloom_->keys() > 0) {
    info.set(info_key::kBloomType, std::string(parts_.bloom_type->name()));
    info.set(info_key::kLastBloomKey, std::string(bloom_->last_key()));
    if (const size_t prefix = parts_.bloom_type->prefix_bytes(); prefix > 0)
      info.set_i32(info_key::kBloomParam, static_cast<int32_t>(prefix));
  }
  return info;
}

}  // namespace

Result<std::unique_ptr<HFileWriter>> HFileWriter::create(WritableFile& file,
                                                         const HFileWriterOptions& options,
                                                         Executor* executor) {
  if (file.size() != 0) return Status::invalid_argument("an HFile begins in a new, empty file");
  CELLAR_TRY_ASSIGN(Parts parts, choose_parts(options));
  return std::unique_ptr<HFileWriter>(std::make_unique<Writer>(file, std::move(parts), executor));
}

}  // namespace cellar
