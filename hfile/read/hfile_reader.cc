// HFileReader: the recipe of opening a file: trailer, load-on-open section, facts, filters.
#include "hfile/read/hfile_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "bloom/bloom_types.h"
#include "cell/cell_codec.h"
#include "cell/cell_order.h"
#include "hfile/block/file_parts.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"
#include "hfile/format/comparator.h"
#include "hfile/read/failed_cursor.h"
#include "hfile/read/half_cursor.h"
#include "hfile/read/row_cursor.h"

namespace cellar {

using Parts = FileParts;

namespace {

constexpr size_t kBloomColumnsMax = 8;  // a read of more columns finds one of them too often to ask

std::string_view text_of(const FileInfo& info, std::string_view key) {
  const std::string* value = info.find(key);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

// The i32 HBase's tools store, or decimal digits.
uint32_t prefix_bytes(std::string_view value) {
  if (value.size() == 4 && load_be32(value.data()) <= kRowBytesMax) return load_be32(value.data());
  uint32_t parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  return error == std::errc() && end == value.data() + value.size() && parsed <= kRowBytesMax ? parsed : 0;
}

// Step 1: the blocks from the load-on-open offset to the trailer. Hands each to `take`, checked and
// decompressed.
class LoadOnOpen {
 public:
  explicit LoadOnOpen(Parts& parts) : parts_(parts) {}

  Status run() {
    uint64_t at = parts_.trailer.load_on_open_offset;
    while (at < parts_.trailer_offset) {
      CELLAR_TRY_ASSIGN(const uint64_t bytes, block(at));
      at += bytes;
    }
    if (!file_info_) return parts_.blocks->corruption(parts_.trailer.file_info_offset, "no file info block");
    if (parts_.trailer.section_sum && *parts_.trailer.section_sum != parts_.end_sum)
      return parts_.blocks->corruption(
          parts_.trailer.load_on_open_offset,
          "index, file info and filters differ from those that were written at this offset");
    CELLAR_ASSERT(data_root && parts_.sections.size() >= 3);  // the file info comes third
    return {};
  }

  Pin data_root;
  uint64_t data_root_offset = 0;
  Pin bloom_meta;
  Pin delete_bloom_meta;

 private:
  Result<uint64_t> block(uint64_t at) {
    BlockReader& blocks = *parts_.blocks;
    CELLAR_TRY_ASSIGN(const BlockHeader header, header_at(at));
    if (parts_.sections.empty()) {
      parts_.checksum = header.checksum;
      blocks.agree_on_checksum(header.checksum);
    }
    if (parts_.sections.size() > 64)
      return blocks.corruption(at, "more load-on-open blocks than HBase knows");
    parts_.sections.push_back({at, header});
    // HBase refuses such a file, too. A damaged magic must not make a Bloom filter disappear.
    if (!header.known_kind) return blocks.corruption(at, "unknown block magic");
    CELLAR_TRY_ASSIGN(const std::string_view disk, bytes_at(at, header.disk_bytes()));
    parts_.end_sum = crc32c(disk, parts_.end_sum);
    CELLAR_TRY_ASSIGN(Block* const raw, blocks.unpack(disk, at, parts_.trailer_offset));
    CELLAR_TRY(take(Pin(raw), *raw, at));
    return header.disk_bytes();
  }

  Result<BlockHeader> header_at(uint64_t at) {
    CELLAR_ASSERT(at < parts_.trailer_offset);
    const size_t bytes = parts_.blocks->header_bytes();
    if (parts_.trailer_offset - at < bytes)
      return parts_.blocks->corruption(at, "too few bytes for a block header");
    CELLAR_TRY_ASSIGN(const std::string_view header, bytes_at(at, bytes));
    return parts_.blocks->parse_header(header, at, parts_.trailer_offset);
  }

  // Valid until the next call.
  Result<std::string_view> bytes_at(uint64_t at, uint64_t bytes) {
    CELLAR_ASSERT(at <= parts_.trailer_offset && bytes <= parts_.trailer_offset - at);
    Result<std::string_view> read =
        ahead_.get(*parts_.file, at, static_cast<size_t>(bytes), parts_.trailer_offset);
    if (!read.ok()) return read.status().at(parts_.blocks->place(at));
    return read;
  }

  Status take(Pin pin, const Block& block, uint64_t at) {
    const size_t place = parts_.sections.size();
    CELLAR_ASSERT(place > 0 && parts_.sections.back().offset == at);
    const BlockKind expected = place <= 2   ? BlockKind::kRootIndex
                               : place == 3 ? BlockKind::kFileInfo
                                            : block.kind();
    if (block.kind() != expected) {
      return parts_.blocks->corruption(at, fmt::format("a {} block where the {} belongs",
                                                       kBlockKindNames[static_cast<size_t>(block.kind())],
                                                       place == 1   ? "data root index"
                                                       : place == 2 ? "meta root index"
                                                                    : "file info"));
    }
    if (place == 1) {
      data_root = std::move(pin);
      data_root_offset = at;
    } else if (place == 2) {
      return meta_index(block.payload(), at);
    } else if (place == 3) {
      return file_info(block.payload(), at);
    } else if (block.kind() == BlockKind::kBloomMeta) {
      bloom_meta = std::move(pin);
    } else if (block.kind() == BlockKind::kDeleteBloomMeta) {
      delete_bloom_meta = std::move(pin);
    }
    return {};
  }

  Status file_info(std::string_view payload, uint64_t at) {
    CELLAR_ASSERT(!file_info_);  // there is one third block
    if (at != parts_.trailer.file_info_offset) {
      return parts_.blocks->corruption(at, "file info is not where the trailer says");
    }
    if (payload.size() > kFileInfoBytesMax) {
      return parts_.blocks->corruption(at, fmt::format("file info of {} bytes", payload.size()));
    }
    Result<FileInfo> info = FileInfo::parse(payload);
    if (!info.ok()) return info.status().with_context("file info").at(parts_.blocks->place(at));
    parts_.info = std::move(*info);
    file_info_ = true;
    return {};
  }

  Status meta_index(std::string_view payload, uint64_t at) {
    CELLAR_ASSERT(parts_.meta_blocks.empty());
    ByteReader in(payload);
    for (uint32_t i = 0; i < parts_.trailer.meta_index_count; ++i) {
      MetaBlockEntry entry;
      int64_t size = 0;
      std::string_view name;
      if (!in.take_be64(entry.offset) || !in.take_be32(entry.disk_bytes) || !in.take_hadoop_vint(size) ||
          size < 0 || !in.take_bytes(static_cast<size_t>(size), name)) {
        return parts_.blocks->corruption(at, fmt::format("meta index ends inside entry {}", i));
      }
      const uint64_t limit = parts_.trailer.load_on_open_offset;
      if (entry.offset >= limit || entry.disk_bytes == 0 || entry.disk_bytes > limit - entry.offset) {
        return parts_.blocks->corruption(at, fmt::format("meta block {} lies outside its section", i));
      }
      entry.name = name;
      parts_.meta_blocks.push_back(std::move(entry));
    }
    if (!in.empty())
      return parts_.blocks->corruption(at, fmt::format("{} trailing bytes after the meta index", in.left()));
    return {};
  }

  Parts& parts_;
  ReadAhead ahead_;
  bool file_info_ = false;
};

// Step 2: what the file info says about cells.
Status read_facts(Parts& parts) {
  const FileInfo& info = parts.info;
  parts.format.tags = info.has(info_key::kMaxTagsLen);
  CELLAR_TRY_ASSIGN(const std::optional<int32_t> version, info.i32(info_key::kKeyValueVersion));
  parts.format.mvcc = version == 1;
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> max_mvcc, info.i64(info_key::kMaxMvcc));
  parts.format.mvcc_all_zero = parts.format.mvcc && max_mvcc.value_or(0) <= 0;
  CELLAR_TRY_ASSIGN(const std::optional<bool> compressed, info.boolean(info_key::kTagsCompressed));
  parts.format.tags_compressed = parts.format.tags && compressed.value_or(false);
  CELLAR_TRY_ASSIGN(parts.times, info.time_range());
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> deletes, info.i64(info_key::kDeleteFamilyCount));
  if (deletes && *deletes >= 0) parts.family_deletes = static_cast<uint64_t>(*deletes);
  CELLAR_TRY_ASSIGN(parts.earliest_put_ts, info.i64(info_key::kEarliestPut));
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> sequence, info.i64(info_key::kMaxSequence));
  parts.max_sequence = parts.options.sequence_override.value_or(
      static_cast<uint64_t>(std::max<int64_t>(sequence.value_or(0), 0)));

  const std::string_view index_encoding = text_of(info, info_key::kIndexBlockEncoding);
  if (!index_encoding.empty() && index_encoding != "NONE") {
    return Status::not_supported(
        fmt::format("index block encoding {} is not supported", escaped(index_encoding)));
  }
  if (const std::string_view encoding = text_of(info, info_key::kDataBlockEncoding); !encoding.empty()) {
    parts.encoding_name = encoding;
  }
  Result<const BlockEncoding*> encoding = encoding_by_name(parts.encoding_name);
  parts.encoding = encoding.ok() ? *encoding : nullptr;
  parts.encoding_status = encoding.status();
  CELLAR_ASSERT((parts.encoding == nullptr) == !parts.encoding_status.ok());
  return {};
}

// A stored key that may be a row alone, as some foreign writers leave it.
bool normalise_key(std::string_view stored, CellType type_of_row_only, std::string& key) {
  CellView view;
  if (parse_flat_key(stored.data(), stored.size(), view)) {
    key = stored;
    CELLAR_DCHECK(parse_flat_key(key.data(), key.size(), view));
    return true;
  }
  if (stored.size() < 2 || size_t{load_be16(stored.data())} + 2 != stored.size()) return false;
  const int64_t timestamp = type_of_row_only == CellType::kMaximum ? kLatestTimestamp : kOldestTimestamp;
  key.clear();
  append_flat_key(key, stored.substr(2), {}, {}, timestamp, type_of_row_only);
  return true;
}

// Without hfile.LASTKEY the last cell itself is asked.
Status last_key_from_cells(Parts& parts, const std::shared_ptr<HFileReader>& reader) {
  CELLAR_ASSERT(parts.last_key.empty() && !parts.last_key_in_info);
  const std::string beyond(kRowBytesMax, '\xff');
  OwnedCell target;
  target.assign(beyond, {}, {}, kOldestTimestamp, CellType::kMinimum, 0);
  const std::unique_ptr<RunCursor> cursor = reader->cursor({.fill_cache = false});
  const CellView* last = parts.meta_order ? nullptr : cursor->seek_before(target.view());
  CELLAR_TRY(cursor->status());
  parts.last_key = last != nullptr ? std::string(last->key_bytes()) : std::string(target.view().key_bytes());
  return {};
}

// Step 3: the range of keys.
Status read_key_range(Parts& parts) {
  const bool has_cells = parts.trailer.entry_count > 0;
  if (has_cells != (parts.index->root().size() > 0)) {
    return parts.blocks->corruption(parts.trailer.load_on_open_offset,
                                    fmt::format("trailer counts {} cells, the index {} entries",
                                                parts.trailer.entry_count, parts.index->root().size()));
  }
  if (!has_cells) return {};
  const IndexNode& root = parts.index->root();
  const CellView first = root.key_view(0);
  if (root.row_only_keys() && first.cell_type == CellType::kMinimum) {
    append_flat_key(parts.first_key, first.row(), {}, {}, kLatestTimestamp, CellType::kMaximum);
  } else {
    parts.first_key = root.key(0);
  }
  const std::string* last = parts.info.find(info_key::kLastKey);
  parts.last_key_in_info = last != nullptr;
  if (last != nullptr && !normalise_key(*last, CellType::kMinimum, parts.last_key)) {
    return parts.blocks->corruption(parts.trailer.file_info_offset, "hfile.LASTKEY is not a key");
  }
  CELLAR_ASSERT(!parts.first_key.empty() && parts.last_key.empty() != parts.last_key_in_info);
  return {};
}

// Where the chunk before each chunk of both filters begins, as Cellar's writer says in the chunks' headers.
// Bits do not tell which chunk they are; others' headers do not always say it. Only older files of Cellar's
// need it: they have no block sums.
void expect_chunks_in_place(const Parts& parts) {
  if (!parts.trailer.section_sum || !parts.trailer.block_sums.empty()) return;
  std::vector<uint64_t> offsets;
  for (BloomReader* bloom : {parts.bloom.get(), parts.delete_bloom.get()}) {
    for (uint32_t i = 0; bloom != nullptr && i < bloom->chunks(); ++i)
      offsets.push_back(bloom->chunk_offset(i));
  }
  std::ranges::sort(offsets);
  for (BloomReader* bloom : {parts.bloom.get(), parts.delete_bloom.get()}) {
    if (bloom != nullptr) bloom->expect_in_place(offsets);
  }
}

// Step 4: filters. Trouble with one only means that it is not used.
void open_blooms(Parts& parts, const LoadOnOpen& section) {
  parts.bloom_type_name = text_of(parts.info, info_key::kBloomType);
  parts.last_bloom_key = text_of(parts.info, info_key::kLastBloomKey);
  const uint64_t limit = parts.trailer.load_on_open_offset;
  if (section.bloom_meta) {
    const std::string_view payload = static_cast<const Block*>(section.bloom_meta.get())->payload();
    parts.bloom_type =
        bloom_type_of_file(parts.bloom_type_name, prefix_bytes(text_of(parts.info, info_key::kBloomParam)));
    const bool flat_keys = parts.bloom_type != nullptr && parts.bloom_type->flat_keys();
    if (parts.bloom_type != nullptr && parts.bloom_type->keys_are_rows() && !flat_keys) {
      const size_t prefix = parts.bloom_type->prefix_bytes();
      parts.bloom_row_bytes = prefix != 0 ? prefix : std::string_view::npos;
    }
    Result<std::unique_ptr<BloomReader>> bloom =
        BloomReader::parse(payload, parts.blocks.get(), parts.meter.get(), limit, flat_keys);
    if (bloom.ok()) {
      parts.bloom = std::move(*bloom);
    } else {
      parts.bloom_trouble = bloom.status();
    }
    if (parts.bloom_type_name.empty())
      parts.bloom_trouble = Status::corruption("bloom filter without a type");
  }
  if (section.delete_bloom_meta) {
    const std::string_view payload = static_cast<const Block*>(section.delete_bloom_meta.get())->payload();
    Result<std::unique_ptr<BloomReader>> bloom =
        BloomReader::parse(payload, parts.blocks.get(), parts.meter.get(), limit, false);
    if (bloom.ok()) {
      parts.delete_bloom = std::move(*bloom);
    } else {
      parts.delete_bloom_trouble = bloom.status();
    }
  }
  expect_chunks_in_place(parts);
}

Status map_file(Parts& parts) {
  CELLAR_TRY_ASSIGN(std::shared_ptr<const char> mapping, parts.file->map());
  if (mapping != nullptr) parts.blocks->read_from(std::move(mapping));
  return {};
}

Status open_parts(Parts& parts) {
  std::string trailer_bytes;
  CELLAR_TRY_ASSIGN(parts.trailer, read_trailer(*parts.file, trailer_bytes));
  const Trailer& trailer = parts.trailer;
  parts.trailer_offset = parts.file->size() - trailer.trailer_bytes();
  CELLAR_TRY_ASSIGN(const Compressor* const codec, compressor_by_id(trailer.codec));
  parts.meta_order = is_meta_comparator(trailer.comparator);
  parts.blocks = std::make_unique<BlockReader>(
      parts.file.get(), trailer, codec,
      BlockReader::Options{.name = parts.options.name,
                           .payload_bytes_max = parts.options.block_payload_bytes_max,
                           .require_crc32c = parts.options.require_crc32c,
                           .in_memory = parts.options.in_memory});
  parts.meter = std::make_unique<MemoryMeter>(parts.options.cache, parts.file->size());
  parts.blocks->charge_sums_to(parts.meter.get());
  if (parts.options.map_file) CELLAR_TRY(map_file(parts));
  LoadOnOpen section(parts);
  CELLAR_TRY(section.run());
  parts.end_sum = crc32c(trailer_bytes, parts.end_sum);
  CELLAR_TRY(read_facts(parts));
  const Block* root = static_cast<const Block*>(section.data_root.get());
  CELLAR_ASSERT(root != nullptr && root->kind() == BlockKind::kRootIndex);
  CELLAR_TRY_ASSIGN(parts.index, IndexReader::open(parts.blocks.get(), parts.options.cache, parts.meter.get(),
                                                   {.levels = trailer.data_index_levels,
                                                    .meta_order = parts.meta_order,
                                                    .load_on_open_offset = trailer.load_on_open_offset,
                                                    .root_entries = trailer.data_index_count},
                                                   root->payload(), section.data_root_offset));
  CELLAR_TRY(read_key_range(parts));
  open_blooms(parts, section);
  CELLAR_ASSERT(parts.index != nullptr && parts.blocks != nullptr && parts.meter != nullptr);
  return {};
}

// Returns true if the general filter can be asked. In the order of hbase:meta it cannot: its chunks, and the
// last of its keys, are found by the order of bytes.
bool answers(const Parts& parts) {
  return parts.bloom != nullptr && parts.bloom_type != nullptr && !parts.meta_order;
}

// The general filter's word on one key.
bool denies(const Parts& parts, const std::string& key, ReadStats* stats) {
  CELLAR_DCHECK(answers(parts));
  if (stats != nullptr) stats->bloom_checks += 1;
  CellView wanted;
  CellView last;
  bool beyond = !parts.last_bloom_key.empty();
  if (!parts.bloom_type->flat_keys()) {
    beyond = beyond && key > parts.last_bloom_key;
  } else {
    const std::string& stored = parts.last_bloom_key;
    beyond = beyond && parse_flat_key(stored.data(), stored.size(), last) &&
             parse_flat_key(key.data(), key.size(), wanted) && compare_keys(wanted, last) > 0;
  }
  return beyond || !parts.bloom->may_contain(key, stats);
}

// Returns true if the general filter denies all of these columns of the row, and markers of whole families,
// which have the empty qualifier.
bool denies_columns(const Parts& parts, std::string_view row, std::span<const std::string> columns,
                    ReadStats* stats) {
  thread_local std::string key;
  if (columns.empty() || columns.size() > kBloomColumnsMax) return false;
  if (!parts.bloom_type->key_of_column(row, {}, key) || !denies(parts, key, stats)) return false;
  return std::ranges::all_of(columns, [&](const std::string& column) {
    return column.empty() || (parts.bloom_type->key_of_column(row, column, key) && denies(parts, key, stats));
  });
}

}  // namespace

HFileReader::HFileReader(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  CELLAR_ASSERT(parts_ != nullptr && parts_->index != nullptr);  // opened
  const HFileReaderOptions& options = parts_->options;
  const bool part = !options.start_row.empty() || !options.stop_row.empty();
  // Blocks in a mapping take little room in the cache, so that slices of them save nothing.
  const bool may_keep = !part && !parts_->meta_order && !parts_->blocks->lends_blocks();
  if (may_keep && parts_->encoding != nullptr) row_cache_ = options.cache.get();
}
HFileReader::~HFileReader() = default;

// Takes the number of rows from the filter of rows, which has each row once.
void HFileReader::count_cells_per_row() {
  const uint64_t rows = parts_->rows_of_filter().value_or(0);
  const uint64_t cells = parts_->trailer.entry_count;
  if (rows == 0 || rows > cells) return;
  cells_per_row_ = static_cast<uint32_t>(std::min<uint64_t>(cells / rows + (cells % rows != 0), UINT32_MAX));
}

Result<std::shared_ptr<HFileReader>> HFileReader::open(std::unique_ptr<ReadableFile> file,
                                                       HFileReaderOptions options) {
  std::unique_ptr<Parts> parts = std::make_unique<Parts>();
  parts->file = std::move(file);
  parts->options = std::move(options);
  if (const Status opened = open_parts(*parts); !opened.ok()) {
    return parts->options.name.empty() ? opened : opened.with_context(parts->options.name);
  }
  std::shared_ptr<HFileReader> reader(new HFileReader(std::move(parts)));
  reader->count_cells_per_row();
  Parts& inside = *reader->parts_;
  if (inside.last_key.empty() && !inside.first_key.empty()) {
    CELLAR_TRY(last_key_from_cells(inside, reader)
                   .with_context("no hfile.LASTKEY, and the last cell is not readable"));
  }
  if (!inside.first_key.empty()) {
    const bool first_parsed = parse_flat_key(inside.first_key.data(), inside.first_key.size(), inside.first);
    const bool last_parsed = parse_flat_key(inside.last_key.data(), inside.last_key.size(), inside.last);
    CELLAR_ASSERT(first_parsed && last_parsed);  // both were checked when they were read
  }
  return reader;
}

const Trailer& HFileReader::trailer() const { return parts_->trailer; }
bool HFileReader::has_checksums() const {
  return parts_->checksum && *parts_->checksum != ChecksumType::kNull;
}
const FileInfo& HFileReader::info() const { return parts_->info; }
const std::string& HFileReader::name() const { return parts_->options.name; }
const ReadableFile& HFileReader::file() const { return *parts_->file; }
uint64_t HFileReader::file_bytes() const { return parts_->file->size(); }
uint64_t HFileReader::memory_bytes() const {
  // The nodes of a std::map have three pointers and a colour each.
  constexpr uint64_t kNodeBytes = 4 * sizeof(void*) + 2 * sizeof(std::string);
  uint64_t bytes = sizeof(HFileReader) + sizeof(FileParts) + parts_->first_key.capacity() +
                   parts_->last_key.capacity() + parts_->last_bloom_key.capacity() +
                   parts_->blocks->memory_bytes() + parts_->sections.capacity() * sizeof(SectionBlock) +
                   parts_->meta_blocks.capacity() * sizeof(MetaBlockEntry);
  for (const auto& [key, value] : parts_->info.entries())
    bytes += kNodeBytes + key.capacity() + value.capacity();
  return bytes;
}
uint64_t HFileReader::cells() const { return parts_->trailer.entry_count; }
CellFormat HFileReader::cell_format() const { return parts_->format; }
std::string_view HFileReader::encoding_name() const { return parts_->encoding_name; }
std::string_view HFileReader::first_row() const {
  if (parts_->first_key.empty()) return {};
  return std::max(parts_->first.row(), std::string_view(parts_->options.start_row));
}
std::string_view HFileReader::last_row() const {
  if (parts_->last_key.empty()) return {};
  const std::string_view stop = parts_->options.stop_row;
  return stop.empty() ? parts_->last.row() : std::min(parts_->last.row(), stop);
}
std::string_view HFileReader::last_key() const { return parts_->last_key; }
std::optional<TimestampRange> HFileReader::times() const { return parts_->times; }
std::optional<uint64_t> HFileReader::family_deletes() const { return parts_->family_deletes; }
uint64_t HFileReader::max_sequence() const { return parts_->max_sequence; }
bool HFileReader::meta_order() const { return parts_->meta_order; }

bool HFileReader::may_contain_row(std::string_view row, ReadStats* stats) const {
  return may_contain_columns(row, {}, stats);
}

bool HFileReader::may_contain_columns(std::string_view row, std::span<const std::string> columns,
                                      ReadStats* stats) const {
  const Parts& parts = *parts_;
  const bool outside = !parts.meta_order && (row < first_row() || row > last_row());
  if (parts.first_key.empty() || outside) {
    if (stats != nullptr) stats->files_skipped_range += 1;
    return false;
  }
  return filter_allows(row, columns, stats);
}

bool HFileReader::filter_allows(std::string_view row, std::span<const std::string> columns,
                                ReadStats* stats) const {
  const Parts& parts = *parts_;
  if (!answers(parts)) return true;
  if (parts.bloom_row_bytes != 0) {
    // No row of the file is after the last key of the filter, so that need not be compared.
    if (stats != nullptr) stats->bloom_checks += 1;
    if (parts.bloom->may_contain(row.substr(0, parts.bloom_row_bytes), stats)) return true;
    if (stats != nullptr) stats->files_skipped_bloom += 1;
    return false;
  }
  thread_local std::string key;
  const bool denied = parts.bloom_type->key_of_row(row, key) ? denies(parts, key, stats)
                                                             : denies_columns(parts, row, columns, stats);
  if (denied && stats != nullptr) stats->files_skipped_bloom += 1;
  return !denied;
}

bool HFileReader::may_contain_rows(std::string_view low, std::string_view high, bool high_inclusive,
                                   ReadStats* stats) const {
  const Parts& parts = *parts_;
  const size_t bytes = answers(parts) ? parts.bloom_type->prefix_bytes() : 0;
  if (bytes == 0 || low.size() < bytes) return true;
  const std::string_view prefix = low.substr(0, bytes);
  if (!high.starts_with(prefix) && (high_inclusive || high != prefix_successor(prefix))) return true;
  thread_local std::string key;
  if (!parts.bloom_type->key_of_row(prefix, key) || !denies(parts, key, stats)) return true;
  if (stats != nullptr) stats->files_skipped_bloom += 1;
  return false;
}

bool HFileReader::may_contain_family_markers(std::string_view row, ReadStats* stats) const {
  const Parts& parts = *parts_;
  if (parts.family_deletes == 0u) return false;
  if (parts.delete_bloom != nullptr && !parts.meta_order) {
    if (stats != nullptr) stats->bloom_checks += 1;
    return parts.delete_bloom->may_contain(row, stats);
  }
  // A filter of columns has them under the empty qualifier.
  thread_local std::string key;
  return !answers(parts) || !parts.bloom_type->flat_keys() ||
         !parts.bloom_type->key_of_column(row, {}, key) || !denies(parts, key, stats);
}

std::unique_ptr<RunCursor> HFileReader::cursor(const FileCursorOptions& options) const {
  if (parts_->encoding == nullptr) return make_failed_cursor(parts_->encoding_status.with_context(name()));
  const std::shared_ptr<const void> held = options.holds_file ? shared_from_this() : nullptr;
  std::unique_ptr<RunCursor> whole = parts_->encoding->make_cursor({held, parts_.get()}, options);
  CELLAR_ASSERT(whole != nullptr);
  const HFileReaderOptions& part = parts_->options;
  if (part.start_row.empty() && part.stop_row.empty()) return whole;
  return make_half_cursor(std::move(whole), part.start_row, part.stop_row);
}

std::unique_ptr<RowCursor> HFileReader::find_row(std::string_view row, ReadStats* stats) const {
  CELLAR_DCHECK(keeps_rows());
  auto found = std::make_unique<RowCursor>(*row_cache_, SliceKey::of(number_, row));
  if (stats != nullptr && found->slice() != nullptr) ++stats->rows_from_cache;
  return found;
}

std::unique_ptr<RunCursor> HFileReader::row_cursor(std::unique_ptr<RowCursor> row,
                                                   FileCursorOptions options) const {
  CELLAR_ASSERT(row != nullptr && options.fill_cache && !options.holds_file);
  if (row->slice() != nullptr) return row;
  options.row_keeper = &row->keeper();
  row->read_file(cursor(options));
  return row;
}

uint32_t HFileReader::end_sum() const { return parts_->end_sum; }

}  // namespace cellar
