// describe: what the trailer, the file info, the index and the filters say, gathered.
#include "hfile/check/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_codec.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "hfile/check/describe_parts.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"
#include "hfile/format/comparator.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

using Parts = FileParts;

namespace {

constexpr size_t kInfoTextBytesMax = 256;
constexpr size_t kFamiliesMax = 16;

// The reads of the file. Outlives the reader that holds the counting file.
struct ReadCount {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> bytes{0};
};

// Counts what is read.
class CountingFile final : public ReadableFile {
 public:
  CountingFile(std::shared_ptr<const ReadableFile> file, std::shared_ptr<ReadCount> count)
      : file_(std::move(file)), count_(std::move(count)) {}
  uint64_t size() const override { return file_->size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    count_->requests += 1;
    count_->bytes += bytes;
    return file_->read(offset, bytes, into);
  }

 private:
  std::shared_ptr<const ReadableFile> file_;
  std::shared_ptr<ReadCount> count_;
};

std::string_view hash_name(BloomHash hash) {
  switch (hash) {
    case BloomHash::kJenkins:
      return "JENKINS";
    case BloomHash::kMurmur:
      return "MURMUR";
    case BloomHash::kMurmur3:
      return "MURMUR3";
  }
  return "unknown";
}

enum class InfoType : uint8_t { kI32, kI64, kBool, kKey, kText, kTimes, kBytes };
constexpr std::string_view kInfoTypeNames[] = {"int32", "int64", "bool", "key", "text", "times", "bytes"};
struct InfoKey {
  std::string_view name;
  InfoType type;
};
constexpr InfoKey kInfoKeys[] = {
    {info_key::kLastKey, InfoType::kKey},
    {info_key::kAvgKeyLen, InfoType::kI32},
    {info_key::kAvgValueLen, InfoType::kI32},
    {info_key::kCreateTime, InfoType::kI64},
    {info_key::kMaxTagsLen, InfoType::kI32},
    {info_key::kTagsCompressed, InfoType::kBool},
    {info_key::kBiggestCellKey, InfoType::kKey},
    {info_key::kBiggestCellLen, InfoType::kI64},
    {"hfile.COMPARATOR", InfoType::kText},
    {info_key::kKeyValueVersion, InfoType::kI32},
    {info_key::kMaxMvcc, InfoType::kI64},
    {info_key::kDataBlockEncoding, InfoType::kText},
    {info_key::kIndexBlockEncoding, InfoType::kText},
    {info_key::kBloomType, InfoType::kText},
    {info_key::kBloomParam, InfoType::kI32},
    {info_key::kLastBloomKey, InfoType::kBytes},
    {info_key::kDeleteFamilyCount, InfoType::kI64},
    {info_key::kTimeRange, InfoType::kTimes},
    {info_key::kEarliestPut, InfoType::kI64},
    {info_key::kMaxSequence, InfoType::kI64},
    {info_key::kMajorCompaction, InfoType::kBool},
    {info_key::kExcludeFromMinor, InfoType::kBool},
    {info_key::kCompactionEvent, InfoType::kBytes},
    {info_key::kBulkLoadTime, InfoType::kI64},
    {info_key::kBulkLoadTask, InfoType::kText},
    {info_key::kSkipResetSequence, InfoType::kBool},
    {info_key::kMobCells, InfoType::kI64},
    {info_key::kMobRefs, InfoType::kText},
    {info_key::kHistorical, InfoType::kBool},
    {"CUSTOM_TIERING_TIME_RANGE", InfoType::kBytes},
};

std::string cut(std::string_view bytes) {
  if (bytes.size() <= kInfoTextBytesMax) return escaped(bytes);
  return escaped(bytes.substr(0, kInfoTextBytesMax)) + fmt::format("… ({} bytes)", bytes.size());
}

// The value as its type reads; escaped bytes when it has another size than the type's.
std::string info_text(InfoType type, const std::string& value, const FileInfo& info) {
  switch (type) {
    case InfoType::kI32:
      if (value.size() == 4) return fmt::format("{}", static_cast<int32_t>(load_be32(value.data())));
      break;
    case InfoType::kI64:
      if (value.size() == 8) return fmt::format("{}", static_cast<int64_t>(load_be64(value.data())));
      break;
    case InfoType::kBool:
      if (value.size() == 1) return value[0] != 0 ? "true" : "false";
      break;
    case InfoType::kKey: {
      CellView key;
      if (parse_flat_key(value.data(), value.size(), key)) return key_text(key);
      break;
    }
    case InfoType::kTimes: {
      const Result<std::optional<TimestampRange>> times = info.time_range();
      if (times.ok() && times->has_value()) return fmt::format("{} to {}", (*times)->min, (*times)->max);
      break;
    }
    case InfoType::kText:
    case InfoType::kBytes:
      break;
  }
  return cut(value);
}

void describe_info(const FileInfo& info, HFileDescription& out) {
  for (const auto& entry : info.entries()) {
    const InfoKey* known = std::find_if(std::begin(kInfoKeys), std::end(kInfoKeys),
                                        [&](const InfoKey& each) { return each.name == entry.first; });
    const bool is_known = known != std::end(kInfoKeys);
    const InfoType type = is_known ? known->type : InfoType::kBytes;
    out.file_info.push_back({entry.first, entry.second, info_text(type, entry.second, info),
                             std::string(kInfoTypeNames[static_cast<size_t>(type)]), is_known});
  }
  const auto i32 = [&](std::string_view key) { return info.i32(key).value_or(std::nullopt); };
  const auto i64 = [&](std::string_view key) { return info.i64(key).value_or(std::nullopt); };
  out.average_key_bytes = i32(info_key::kAvgKeyLen);
  out.average_value_bytes = i32(info_key::kAvgValueLen);
  out.max_tags_bytes = i32(info_key::kMaxTagsLen);
  out.max_mvcc = i64(info_key::kMaxMvcc);
  out.create_time_ms = i64(info_key::kCreateTime);
  if (out.create_time_ms == 0) out.create_time_ms.reset();
  out.max_sequence = i64(info_key::kMaxSequence);
  out.major_compaction = info.boolean(info_key::kMajorCompaction).value_or(std::nullopt);
  out.bulk_load_time_ms = i64(info_key::kBulkLoadTime);
}

HFileBloomLine bloom_line(const BloomReader* bloom, const Status& trouble) {
  HFileBloomLine line;
  line.present = bloom != nullptr || !trouble.ok();
  line.trouble = trouble.message();
  if (bloom == nullptr) return line;
  const BloomFacts& facts = bloom->facts();
  line.hash = hash_name(facts.hash);
  line.hashes = facts.hashes;
  line.keys = facts.keys;
  line.keys_max = facts.keys_max;
  line.chunks = facts.chunks;
  line.bytes = facts.bytes;
  return line;
}

void describe_trailer(const Trailer& trailer, HFileDescription& out) {
  out.has_trailer = true;
  out.trailer = trailer;
  out.trailer_offset = out.file_bytes - trailer.trailer_bytes();
  out.version = fmt::format("{}.{}", trailer.major_version, trailer.minor_version);
  out.codec = codec_name(trailer.codec);
  out.comparator = trailer.comparator;
  out.meta_order = is_meta_comparator(trailer.comparator);
  out.cells = trailer.entry_count;
  out.index_levels = trailer.data_index_levels;
  out.root_entries = trailer.data_index_count;
}

void describe_parts(const Parts& parts, HFileDescription& out) {
  out.has_file_info = true;
  out.encoding = parts.encoding_name;
  out.status = parts.encoding_status;
  out.tags = parts.format.tags;
  out.tags_compressed = parts.format.tags_compressed;
  out.mvcc = parts.format.mvcc;
  out.first_key = parts.first_key;
  out.last_key = parts.last_key;
  out.times = parts.times;
  out.family_deletes = parts.family_deletes;
  out.earliest_put_ts = parts.earliest_put_ts;
  out.checksum = checksum_name(parts.checksum);
  out.bytes_per_checksum = parts.sections.front().header.bytes_per_checksum;
  out.root_disk_bytes = parts.sections.front().header.disk_bytes();
  out.root_payload_bytes = parts.sections.front().header.payload_bytes;
  describe_info(parts.info, out);
  out.bloom = bloom_line(parts.bloom.get(), parts.bloom_trouble);
  out.bloom.type = escaped(parts.bloom_type_name);
  if (parts.bloom_type != nullptr) {
    out.bloom.prefix_bytes = parts.bloom_type->prefix_bytes();
    out.bloom.flat_keys = parts.bloom_type->flat_keys();
  }
  out.bloom.last_key = parts.last_bloom_key;
  out.delete_bloom = bloom_line(parts.delete_bloom.get(), parts.delete_bloom_trouble);
  for (const MetaBlockEntry& meta : parts.meta_blocks) {
    HFileMetaLine line = {meta.name, meta.offset, meta.disk_bytes, std::nullopt};
    const Result<BlockHeader> header =
        parts.blocks->read_header(meta.offset, parts.trailer.load_on_open_offset);
    if (header.ok()) line.payload_bytes = header->payload_bytes;
    out.meta_blocks.push_back(std::move(line));
  }
  const IndexNode& root = parts.index->root();
  if (!root.children_are_data()) return;
  out.data_blocks = root.size();
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < root.size(); ++i) bytes += root.child_disk_bytes(i);
  out.data_disk_bytes = bytes;
}

void warn(const Parts& parts, HFileDescription& out) {
  const auto add = [&](std::string code, std::string text) {
    out.warnings.push_back({std::move(code), std::move(text)});
  };
  const std::string& comparator = out.comparator;
  if (!is_standard_comparator(comparator) && !out.meta_order) {
    add("W-COMPARATOR",
        fmt::format("comparator {} is not known; the standard order is assumed", escaped(comparator)));
  } else if (comparator == "org.apache.hadoop.hbase.KeyValue$KeyComparator") {
    add("W-COMPARATOR-OLD", "comparator name of HBase before 2.0; the order is the same");
  }
  if (!parts.checksum || *parts.checksum == ChecksumType::kNull)
    add("W-UNCHECKED", "blocks carry no checksums: wrong cells cannot always be detected");
  if (!out.create_time_ms) add("W-NO-CREATE-TIME", "CREATE_TIME_TS is absent or 0");
  if (parts.index->root().row_only_keys()) {
    add("W-INDEX-KEY", "index keys are rows without family, timestamp and type; HBase cannot search them");
  }
  if (out.cells > 0 && !parts.last_key_in_info)
    add("W-NO-LASTKEY", "no hfile.LASTKEY: HBase cannot bulk-load the file");
  if (!out.average_key_bytes || !out.average_value_bytes) {
    add("W-NO-AVERAGES", "no hfile.AVG_KEY_LEN or hfile.AVG_VALUE_LEN: HBase refuses the file");
  }
  for (const HFileBloomLine* bloom : {&out.bloom, &out.delete_bloom}) {
    if (!bloom->trouble.empty()) add("W-BLOOM-IGNORED", bloom->trouble);
  }
  if (out.index_levels > 2) {
    add("W-DEEP-INDEX",
        fmt::format("{} index levels: a cold get reads {} blocks", out.index_levels, out.index_levels));
  }
}

// The walk over all block headers: space by kind, and the list of blocks.
class Layout {
 public:
  Layout(const Parts& parts, const DescribeOptions& options, HFileDescription& out)
      : parts_(parts), options_(options), out_(out), index_(parts.index.get()) {}

  Status run() {
    CELLAR_TRY(index_.to_first(nullptr));
    uint64_t at = 0;
    const uint64_t limit = parts_.trailer.load_on_open_offset;
    while (at < limit) {
      CELLAR_TRY_ASSIGN(const BlockHeader header, parts_.blocks->read_header(at, limit));
      const std::string_view kind =
          header.known_kind ? kBlockKindNames[static_cast<size_t>(header.kind)] : "unknown";
      CELLAR_TRY(block(at, header, std::string(kind), limit));
      at += header.disk_bytes();
    }
    size_t roots = 0;
    for (const SectionBlock& section : parts_.sections) {
      std::string kind(section.header.known_kind ? kBlockKindNames[static_cast<size_t>(section.header.kind)]
                                                 : "unknown");
      if (section.header.known_kind && section.header.kind == BlockKind::kRootIndex && roots++ == 1)
        kind = "meta index";
      CELLAR_TRY(block(section.offset, section.header, std::move(kind), parts_.trailer_offset));
    }
    const uint64_t trailer = parts_.trailer.trailer_bytes();
    space_.push_back({"trailer", 0, trailer, trailer});
    std::stable_sort(space_.begin(), space_.end(),
                     [](const HFileSpace& a, const HFileSpace& b) { return a.disk_bytes > b.disk_bytes; });
    for (const HFileSpace& each : space_) {
      if (each.kind != "data") continue;
      out_.data_blocks = each.blocks;
      out_.data_disk_bytes = each.disk_bytes;
      out_.data_payload_bytes = each.payload_bytes;
    }
    if (options_.layout) out_.space = std::move(space_);
    return {};
  }

 private:
  Status block(uint64_t at, const BlockHeader& header, std::string kind, uint64_t limit) {
    auto space =
        std::find_if(space_.begin(), space_.end(), [&](const HFileSpace& each) { return each.kind == kind; });
    if (space == space_.end()) space = space_.insert(space_.end(), HFileSpace{kind, 0, 0, 0});
    space->blocks += 1;
    space->disk_bytes += header.disk_bytes();
    space->payload_bytes += header.payload_bytes;
    const uint64_t ordinal = ordinal_++;
    std::string index_key;
    const bool data = is_data(header.kind);
    if (header.known_kind && data) {
      while (index_.valid() && index_.offset() < at) CELLAR_TRY(index_.next(nullptr));
      if (index_.valid() && index_.offset() == at) index_key = std::string(index_.key().key_bytes());
    }
    if (!options_.blocks) return {};
    if (out_.blocks.size() >= options_.list_max) {
      out_.blocks_left_out += 1;
      return {};
    }
    HFileBlockLine line;
    line.ordinal = ordinal;
    line.kind = std::move(kind);
    line.offset = at;
    line.disk_bytes = header.disk_bytes();
    line.payload_bytes = header.payload_bytes;
    line.previous_offset = header.previous_offset;
    line.index_key = std::move(index_key);
    if (header.known_kind && data) line.cells = cells_of(at, header, limit);
    out_.blocks.push_back(std::move(line));
    return {};
  }

  std::optional<uint64_t> cells_of(uint64_t at, const BlockHeader& header, uint64_t limit) const {
    if (parts_.encoding == nullptr) return std::nullopt;
    Result<Block*> block = parts_.blocks->read(at, header.disk_bytes(), limit, nullptr, nullptr);
    if (!block.ok()) return std::nullopt;
    const Pin pin(*block);
    const std::unique_ptr<BlockWalker> walker = parts_.encoding->make_walker(parts_.format);
    if (!walker->open((*block)->payload()).ok()) return std::nullopt;
    uint64_t cells = 0;
    while (walker->next() != nullptr) cells += 1;
    return walker->status().ok() ? std::optional<uint64_t>(cells) : std::nullopt;
  }

  const Parts& parts_;
  const DescribeOptions& options_;
  HFileDescription& out_;
  IndexCursor index_;
  std::vector<HFileSpace> space_;
  uint64_t ordinal_ = 0;
};

Status scan(const HFileReader& reader, HFileDescription& out) {
  HFileScan counts;
  std::set<std::string, std::less<>> families;
  const std::unique_ptr<CellCursor> cursor = reader.cursor({.fill_cache = false, .sequential = true});
  OwnedCell start;
  first_of_row(start, reader.first_row());
  const CellView* before = nullptr;
  for (const CellView* cell = cursor->seek(start.view()); cell != nullptr; cell = cursor->next()) {
    if (before == nullptr || !same_row(*before, *cell)) counts.rows += 1;
    counts.cells += 1;
    counts.puts += cell->cell_type == CellType::kPut;
    counts.timestamp_min = std::min(counts.timestamp_min, cell->timestamp);
    counts.timestamp_max = std::max(counts.timestamp_max, cell->timestamp);
    counts.tagged_cells += cell->tags_size > 0;
    counts.max_sequence = std::max(counts.max_sequence, cell->sequence);
    if (families.size() < kFamiliesMax && !families.contains(cell->family()))
      families.emplace(cell->family());
    before = cell;
  }
  counts.deletes = counts.cells - counts.puts;
  counts.families.assign(families.begin(), families.end());
  out.scan = std::move(counts);
  return cursor->status();
}

// A file that did not open: its trailer, if that much can be read, and the block that was asked for.
Status describe_unopened(const ReadableFile& file, const DescribeOptions& options, HFileDescription& out) {
  const Result<Trailer> trailer = read_trailer(file);
  if (trailer.ok()) {
    describe_trailer(*trailer, out);
    return options.block ? describe_block(file, *trailer, nullptr, options, out) : Status();
  }
  char word[4];
  if (file.size() < sizeof word || !file.read(file.size() - sizeof word, sizeof word, word).ok()) return {};
  const uint32_t version = load_be32(word);
  out.version = fmt::format("{}.{}", version & 0xffffff, version >> 24);
  return {};
}

// Describes the requested parts beyond the end of the file. The first failure ends it, except a failure of
// the block.
Status describe_more(const HFileReader& reader, const DescribeOptions& options, HFileDescription& out) {
  const Parts& parts = reader.parts();
  if (options.bloom) {
    describe_chunks(parts.bloom.get(), options.list_max, out.bloom);
    describe_chunks(parts.delete_bloom.get(), options.list_max, out.delete_bloom);
  }
  if (options.block) CELLAR_TRY(describe_block(*parts.file, parts.trailer, &parts, options, out));
  if (options.layout || options.blocks) CELLAR_TRY(Layout(parts, options, out).run());
  if (options.index) CELLAR_TRY(describe_index(parts, options.list_max, out));
  if (options.scan && parts.encoding != nullptr) CELLAR_TRY(scan(reader, out));
  return {};
}

}  // namespace

Result<HFileDescription> describe(std::unique_ptr<ReadableFile> file, const DescribeOptions& options) {
  const std::shared_ptr<const ReadableFile> shared(std::move(file));
  const std::shared_ptr<ReadCount> count = std::make_shared<ReadCount>();
  HFileDescription out;
  out.name = options.name;
  out.file_bytes = shared->size();
  HFileReaderOptions reading;
  reading.name = options.name;
  reading.block_payload_bytes_max = options.block_payload_bytes_max;
  Result<std::shared_ptr<HFileReader>> opened =
      HFileReader::open(std::make_unique<CountingFile>(shared, count), std::move(reading));
  Status more;
  if (!opened.ok()) {
    const bool described = opened.status().is(Code::kNotSupported) || opened.status().is(Code::kCorruption) ||
                           opened.status().is(Code::kLimit);
    if (is_not_an_hfile(opened.status()) || !described) return opened.status();
    out.status = opened.status();
    more = describe_unopened(CountingFile(shared, count), options, out);
  } else {
    const HFileReader& reader = **opened;
    describe_trailer(reader.trailer(), out);
    describe_parts(reader.parts(), out);
    warn(reader.parts(), out);
    more = describe_more(reader, options, out);
  }
  if (more.is(Code::kInvalidArgument)) return more;
  if (!more.ok()) out.status = more;
  out.read_requests = count->requests;
  out.reads.bytes_from_disk = count->bytes;
  return out;
}

}  // namespace cellar
