// TraceReader: chunks with their checksums, and the records in them.
#include "engine/trace/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "hfile/codec/codecs.h"

namespace cellar {
namespace {

bool take_zigzag(ByteReader& reader, int64_t& value) {
  uint64_t raw = 0;
  if (!reader.take_varint(raw)) return false;
  value = static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  return true;
}

bool take_name(ByteReader& reader, std::string& name) {
  uint64_t size = 0;
  std::string_view bytes;
  if (!reader.take_varint(size) || size > reader.left() || !reader.take_bytes(size, bytes)) return false;
  name.assign(bytes);
  return true;
}

// Takes a count of things that have at least one byte each.
bool take_count(ByteReader& reader, uint64_t& count) {
  return reader.take_varint(count) && count <= reader.left();
}

}  // namespace

Result<TraceReader> TraceReader::open(FileSystem& files, const std::string& path) {
  Result<std::unique_ptr<ReadableFile>> file = files.open_file(path);
  if (!file.ok()) return file.status().with_context("trace " + path);
  TraceReader reader(std::move(file).value(), path);
  CELLAR_TRY(reader.read_header().with_context("trace " + path));
  return Result<TraceReader>(std::move(reader));
}

Status TraceReader::read_header() {
  std::string bytes(std::min<uint64_t>(file_->size(), kTraceHeaderBytes), '\0');
  if (bytes.empty()) return Status::corruption("is empty");
  CELLAR_TRY(file_->read(0, bytes.size(), bytes.data()));
  CELLAR_TRY_ASSIGN(header_, decode_trace_header(bytes));
  offset_ = kTraceHeaderBytes;
  return {};
}

Status TraceReader::damaged(uint64_t offset, std::string_view what) const {
  return Status::corruption(fmt::format("trace {}: the chunk at {} {}", path_, offset, what));
}

Result<bool> TraceReader::only_zeros_from(uint64_t offset) const {
  std::string bytes(64 << 10, '\0');
  for (uint64_t at = offset; at < file_->size(); at += bytes.size()) {
    const size_t size = std::min<uint64_t>(bytes.size(), file_->size() - at);
    CELLAR_TRY(file_->read(at, size, bytes.data()));
    if (bytes.find_first_not_of('\0') < size) return false;
  }
  return true;
}

Result<bool> TraceReader::end_torn() {
  ending_.torn_bytes = file_->size() - offset_;
  offset_ = file_->size();
  return false;
}

Result<bool> TraceReader::next(TraceChunk& chunk) {
  CELLAR_ASSERT(offset_ <= file_->size());
  const uint64_t left = file_->size() - offset_;
  if (left == 0) return false;
  if (left < kTraceChunkHeaderBytes) return end_torn();
  char head[kTraceChunkHeaderBytes];
  CELLAR_TRY(file_->read(offset_, sizeof head, head).with_context("trace " + path_));
  uint32_t crc = 0;
  if (!decode({head, sizeof head}, chunk.header, crc)) {
    CELLAR_TRY_ASSIGN(const bool zeros, only_zeros_from(offset_));
    return zeros ? end_torn() : Result<bool>(damaged(offset_, "has no sound header"));
  }
  const uint64_t stored = chunk.header.stored_bytes;
  if (stored > left - kTraceChunkHeaderBytes) return end_torn();
  stored_.resize(stored);
  CELLAR_TRY(file_->read(offset_ + sizeof head, stored, stored_.data()).with_context("trace " + path_));
  if (chunk_crc({head, sizeof head}, stored_) != crc) {
    // The last bytes of a file may have been allocated and not written.
    if (stored + kTraceChunkHeaderBytes == left) return end_torn();
    return damaged(offset_, "has another checksum");
  }
  CELLAR_ASSERT(stored_.size() == chunk.header.stored_bytes);
  chunk.offset = offset_;
  if (chunk.header.compressed) {
    CELLAR_TRY_ASSIGN(const Compressor* lz4, compressor_by_name("lz4"));
    chunk.payload.resize(chunk.header.plain_bytes);
    const Status status = lz4->decompress(stored_, chunk.payload.size(), chunk.payload.data());
    if (!status.ok()) return damaged(offset_, "cannot be decompressed");
  } else {
    chunk.payload = stored_;
  }
  ending_.lost = chunk.header.lost;
  offset_ += kTraceChunkHeaderBytes + stored;
  if (chunk.header.kind == TraceChunkKind::kRecords) return true;
  CELLAR_TRY(read_end(chunk));
  return false;
}

Status TraceReader::read_end(const TraceChunk& chunk) {
  const auto end = chunk.payload.empty() ? 0 : static_cast<uint8_t>(chunk.payload.front());
  if (end != static_cast<uint8_t>(TraceEnd::kStopped) && end != static_cast<uint8_t>(TraceEnd::kLimit))
    return damaged(chunk.offset, "does not tell why the recording ended");
  if (offset_ != file_->size()) return damaged(chunk.offset, "is the last one, but bytes follow it");
  ending_.end = static_cast<TraceEnd>(end);
  return {};
}

TraceRecords::TraceRecords(const TraceHeader& header, const TraceChunk& chunk)
    : header_(header), chunk_(chunk), reader_(chunk.payload), last_start_(chunk.header.base_ticks) {
  const TraceChunkHeader& later = chunk.header;
  if (later.ticks > header.ticks && later.steady_ns > header.steady_ns)
    ns_per_tick_ = static_cast<double>(later.steady_ns - header.steady_ns) /
                   static_cast<double>(later.ticks - header.ticks);
}

int64_t TraceRecords::since_beginning(uint64_t ticks) const {
  // Processors may differ a little, so that an operation may seem to begin before the recording.
  const auto since = static_cast<int64_t>(ticks - header_.ticks);
  return since <= 0 ? 0 : static_cast<int64_t>(static_cast<double>(since) * ns_per_tick_);
}

Status TraceRecords::corrupt(size_t position) const {
  return Status::corruption(
      fmt::format("the record at {} of the trace's chunk at {} does not parse", position, chunk_.offset));
}

Result<bool> TraceRecords::next(TraceOperation& operation) {
  if (reader_.empty()) return false;
  const size_t position = position_of(reader_);
  int64_t delta = 0;
  uint64_t duration = 0;
  if (!parse(reader_, operation, delta, duration)) return corrupt(position);
  last_start_ += static_cast<uint64_t>(delta);
  operation.start_ns = since_beginning(last_start_);
  return true;
}

Status TraceRecords::read_at(size_t position, int64_t start_ns, TraceOperation& operation) const {
  CELLAR_ASSERT(position < chunk_.payload.size());
  ByteReader reader(std::string_view(chunk_.payload).substr(position));
  int64_t delta = 0;
  uint64_t duration = 0;
  if (!parse(reader, operation, delta, duration)) return corrupt(position);
  operation.start_ns = start_ns;
  return {};
}

bool TraceRecords::parse(ByteReader& reader, TraceOperation& operation, int64_t& start_delta,
                         uint64_t& duration) const {
  uint8_t kind = 0;
  uint8_t flags = 0;
  uint8_t code = 0;
  if (!reader.take_u8(kind) || !reader.take_u8(flags) || !reader.take_u8(code)) return false;
  if (kind == 0 || kind > kTraceKindMax || code > static_cast<uint8_t>(Code::kConflict)) return false;
  if (!take_zigzag(reader, start_delta) || !reader.take_varint(duration)) return false;
  operation.kind = static_cast<TraceKind>(kind);
  operation.in_transaction = (flags & kTraceInTransaction) != 0;
  operation.code = static_cast<Code>(code);
  operation.thread = chunk_.header.thread;
  operation.duration_ns = static_cast<uint64_t>(static_cast<double>(duration) * ns_per_tick_);
  return take_body(reader, operation);
}

bool TraceRecords::take_body(ByteReader& reader, TraceOperation& operation) const {
  CELLAR_DCHECK(static_cast<uint8_t>(operation.kind) <= kTraceKindMax);
  operation.rows = operation.cells = operation.bytes = 0;
  operation.durability.reset();
  operation.table.clear();
  operation.family.clear();
  if (!reads_only(operation.kind) && !writes_rows(operation.kind)) {
    operation.entries.clear();
    return take_name(reader, operation.table) && take_name(reader, operation.family);
  }
  if (operation.kind == TraceKind::kScan) {
    operation.entries.clear();
    if (!take_scan(reader, operation.scan)) return false;
  } else {
    uint8_t durability = 0;
    uint64_t count = 0;
    if (!reader.take_u8(durability) || durability > 4 || !take_count(reader, count)) return false;
    if (durability != 0) operation.durability = static_cast<Durability>(durability - 1);
    // Grows with what is there, not with what the count promises.
    for (uint64_t i = 0; i < count; ++i) {
      if (i == operation.entries.size()) operation.entries.emplace_back();
      if (!take_entry(reader, operation.entries[i])) return false;
    }
    operation.entries.resize(count);
  }
  return reader.take_varint(operation.rows) && reader.take_varint(operation.cells) &&
         reader.take_varint(operation.bytes);
}

bool TraceRecords::take_entry(ByteReader& reader, TraceEntry& entry) const {
  uint8_t kind = 0;
  if (!reader.take_u8(kind) || kind == 0 || kind > kTraceEntryKindMax) return false;
  entry.kind = static_cast<TraceEntryKind>(kind);
  if (!take_name(reader, entry.table) || !take_key(reader, entry.row)) return false;
  if (entry.kind == TraceEntryKind::kGet) return take_query(reader, entry.query, entry.columns);
  if (entry.kind != TraceEntryKind::kCheck) return take_columns(reader, entry.columns);
  uint8_t flags = 0;
  if (!reader.take_u8(flags)) return false;
  entry.matched = (flags & kTraceMatched) != 0;
  entry.columns.assign(1, {});
  if (!take_name(reader, entry.columns[0].family) || !take_key(reader, entry.columns[0].qualifier))
    return false;
  if ((flags & kTraceHasColumn) == 0) entry.columns.clear();
  return true;
}

bool TraceRecords::take_scan(ByteReader& reader, TraceScan& scan) const {
  if (!take_name(reader, scan.table) || !reader.take_u8(scan.flags) || !take_key(reader, scan.start) ||
      !take_key(reader, scan.stop) || !reader.take_varint(scan.limit))
    return false;
  uint64_t ranges = 0;
  if ((scan.flags & kTraceRanges) != 0 && !take_count(reader, ranges)) return false;
  scan.ranges.clear();
  for (uint64_t i = 0; i < ranges; ++i) {
    auto& [start, stop] = scan.ranges.emplace_back();
    if (!take_key(reader, start) || !take_key(reader, stop)) return false;
  }
  return take_query(reader, scan.query, scan.columns);
}

bool TraceRecords::take_query(ByteReader& reader, TraceQuery& query,
                              std::vector<TraceColumn>& columns) const {
  uint64_t versions = 0;
  uint64_t families = 0;
  query = {};
  if (!reader.take_u8(query.flags)) return false;
  if ((query.flags & kTraceTimeRange) != 0 &&
      (!take_zigzag(reader, query.time_from) || !take_zigzag(reader, query.time_until)))
    return false;
  if (!reader.take_varint(versions) || versions > UINT32_MAX || !take_count(reader, families)) return false;
  query.versions = static_cast<uint32_t>(versions);
  columns.clear();
  std::string family;
  for (uint64_t i = 0; i < families; ++i) {
    uint64_t qualifiers = 0;
    if (!take_name(reader, family) || !take_count(reader, qualifiers)) return false;
    if (qualifiers == 0) columns.push_back({.family = family, .qualifier = {}, .whole_family = true});
    for (uint64_t j = 0; j < qualifiers; ++j) {
      columns.push_back({.family = family, .qualifier = {}});
      if (!take_key(reader, columns.back().qualifier)) return false;
    }
  }
  return true;
}

bool TraceRecords::take_columns(ByteReader& reader, std::vector<TraceColumn>& columns) const {
  uint64_t count = 0;
  if (!take_count(reader, count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (i == columns.size()) columns.emplace_back();
    TraceColumn& column = columns[i];
    uint8_t type = 0;
    uint8_t flags = 0;
    if (!reader.take_u8(type) || !is_stored_type(static_cast<CellType>(type)) || !reader.take_u8(flags))
      return false;
    column.type = static_cast<CellType>(type);
    column.latest_version = (flags & kTraceLatestVersion) != 0;
    column.whole_family = false;
    column.timestamp.reset();
    if (!take_name(reader, column.family) || !take_key(reader, column.qualifier) ||
        !reader.take_varint(column.value_bytes) || column.value_bytes > UINT32_MAX)
      return false;
    if ((flags & kTraceTimestamp) == 0) continue;
    int64_t timestamp = 0;
    if (!take_zigzag(reader, timestamp)) return false;
    column.timestamp = timestamp;
  }
  columns.resize(count);
  return true;
}

bool TraceRecords::take_key(ByteReader& reader, TraceKey& key) const {
  uint64_t size = 0;
  std::string_view bytes;
  if (!reader.take_varint(size) || size > UINT32_MAX) return false;
  key.size = static_cast<uint32_t>(size);
  if (!header_.hashed) {
    if (!reader.take_bytes(size, bytes)) return false;
    key.bytes.assign(bytes);
    return true;
  }
  key.bytes.clear();
  if (size == 0) return true;
  if (!reader.take_bytes(sizeof(uint64_t), bytes)) return false;
  fmt::format_to(std::back_inserter(key.bytes), "{:016x}", load_le64(bytes.data()));
  // An operation with such a key cannot make much longer ones.
  const size_t shown = std::min<size_t>(size, kRowBytesMax);
  if (shown > key.bytes.size()) key.bytes.resize(shown, '.');
  return true;
}

}  // namespace cellar
