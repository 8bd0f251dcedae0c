// TraceReader: reads the operations of a trace, without trusting a byte of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "cellar/cell.h"
#include "cellar/file_system.h"
#include "cellar/options.h"
#include "engine/trace/trace_format.h"

namespace cellar {

// A row or a qualifier. The bytes of a hashed key are the 16 hexadecimal digits of its hash, then dots up to
// the size of the key. `size` is always that of the key itself.
struct TraceKey {
  std::string bytes;
  uint32_t size = 0;
};

struct TraceColumn {
  std::string family;
  TraceKey qualifier;
  bool whole_family = false;  // of a read: the qualifier has no meaning
  CellType type = CellType::kPut;
  bool latest_version = false;
  std::optional<int64_t> timestamp = {};
  uint64_t value_bytes = 0;
};

// TraceQuery: what a read asks for.
struct TraceQuery {
  uint8_t flags = 0;
  int64_t time_from = 0;
  int64_t time_until = kLatestTimestamp;
  uint32_t versions = 1;
};

struct TraceEntry {
  TraceEntryKind kind = TraceEntryKind::kGet;
  std::string table;
  TraceKey row;
  std::vector<TraceColumn>
      columns;           // read or written; of a check: the column of its condition, if it has one
  TraceQuery query;      // of a get
  bool matched = false;  // of a check
};

struct TraceScan {
  std::string table;
  uint8_t flags = 0;
  TraceKey start;
  TraceKey stop;  // or the prefix
  uint64_t limit = 0;
  std::vector<std::pair<TraceKey, TraceKey>> ranges;  // start and stop, of a scan with kTraceRanges
  TraceQuery query;
  std::vector<TraceColumn> columns;
};

// TraceOperation: one operation as it was recorded. A value; reading the next one reuses its memory.
struct TraceOperation {
  TraceKind kind = TraceKind::kGet;
  bool in_transaction = false;
  Code code = Code::kOk;
  uint32_t thread = 0;
  int64_t start_ns = 0;      // since the beginning of the recording
  uint64_t duration_ns = 0;  // of a scan: with the time of its caller
  std::optional<Durability> durability = {};
  std::vector<TraceEntry> entries;  // of all but scans and work
  TraceScan scan;                   // of a scan
  std::string table;                // of work: empty for all
  std::string family;               // of work: empty for all
  uint64_t rows = 0;                // returned
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of keys, values and tags
};

// TraceChunk: the records of one thread over a stretch of time.
struct TraceChunk {
  TraceChunkHeader header;
  uint64_t offset = 0;  // in the file
  std::string payload;
};

// How the file ends.
struct TraceEnding {
  std::optional<TraceEnd> end;  // none: the program ended without stopping the recording
  uint64_t torn_bytes = 0;      // after the last whole chunk
  uint64_t lost = 0;            // operations that were not recorded, as far as known
};

// Reads a file chunk by chunk. One thread at a time. Memory: one chunk.
class TraceReader {
 public:
  // Errors: kNotFound, kIoError; kCorruption (not a trace, or a damaged header); kNotSupported.
  static Result<TraceReader> open(FileSystem& files, const std::string& path);

  const TraceHeader& header() const { return header_; }
  uint64_t file_bytes() const { return file_->size(); }
  // Reads the next chunk of records. Returns false at the end; a torn end is an end. kCorruption with the
  // place for a damaged chunk that others follow.
  Result<bool> next(TraceChunk& chunk);
  // Complete after next() has returned false.
  const TraceEnding& ending() const { return ending_; }

 private:
  TraceReader(std::unique_ptr<ReadableFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Status read_header();
  Result<bool> end_torn();
  Status read_end(const TraceChunk& chunk);
  Result<bool> only_zeros_from(uint64_t offset) const;
  Status damaged(uint64_t offset, std::string_view what) const;

  std::unique_ptr<ReadableFile> file_;
  std::string path_;
  TraceHeader header_;
  uint64_t offset_ = 0;
  std::string stored_;
  TraceEnding ending_;
};

// TraceRecords: the operations of a chunk, one after the other. It borrows both arguments.
class TraceRecords {
 public:
  TraceRecords(const TraceHeader& header, const TraceChunk& chunk);

  // Reads the next operation. Returns false at the end. kCorruption if the record does not parse.
  Result<bool> next(TraceOperation& operation);
  // Returns the place of the next record in the payload, for read_at().
  size_t position() const { return position_of(reader_); }
  // Reads the operation at a place that position() returned, with the start time that it had then.
  Status read_at(size_t position, int64_t start_ns, TraceOperation& operation) const;

 private:
  size_t position_of(const ByteReader& reader) const { return chunk_.payload.size() - reader.left(); }
  bool parse(ByteReader& reader, TraceOperation& operation, int64_t& start_delta, uint64_t& duration) const;
  bool take_body(ByteReader& reader, TraceOperation& operation) const;
  bool take_entry(ByteReader& reader, TraceEntry& entry) const;
  bool take_scan(ByteReader& reader, TraceScan& scan) const;
  bool take_query(ByteReader& reader, TraceQuery& query, std::vector<TraceColumn>& columns) const;
  bool take_columns(ByteReader& reader, std::vector<TraceColumn>& columns) const;
  bool take_key(ByteReader& reader, TraceKey& key) const;
  Status corrupt(size_t position) const;
  int64_t since_beginning(uint64_t ticks) const;

  const TraceHeader& header_;
  const TraceChunk& chunk_;
  ByteReader reader_;
  uint64_t last_start_;     // ticks
  double ns_per_tick_ = 1;  // of this chunk
};

}  // namespace cellar
