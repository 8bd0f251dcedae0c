// The format of a trace of operations: its header, its chunks and the numbers in its records. docs/traces.md
// describes it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

// Numbers of the file. They never change their meaning.
enum class TraceKind : uint8_t {
  kGet = 1,
  kExists,
  kGetMany,
  kExistsMany,
  kScan,
  kPut,
  kErase,
  kIncrement,
  kAppend,
  kMutate,
  kCheckAndMutate,
  kWrite,    // Engine::write
  kActions,  // Table::batch
  kCommit,   // of a transaction
  kFlush,
  kCompact,
  kMajorCompact,
};
constexpr uint8_t kTraceKindMax = static_cast<uint8_t>(TraceKind::kMajorCompact);
// Returns "get", "get_many", "check_and_mutate", …; it lives forever.
std::string_view trace_kind_name(TraceKind kind);
bool reads_only(TraceKind kind);
// Returns whether the operation changes rows.
bool writes_rows(TraceKind kind);

// One part of an operation: a row, and what was asked of it.
enum class TraceEntryKind : uint8_t { kGet = 1, kPut, kErase, kIncrement, kAppend, kCell, kCheck };
constexpr uint8_t kTraceEntryKindMax = static_cast<uint8_t>(TraceEntryKind::kCheck);

// Bits of a record.
constexpr uint8_t kTraceInTransaction = 1;
// Bits of a query.
constexpr uint8_t kTraceTimeRange = 1;  // two numbers follow: from, until
constexpr uint8_t kTraceFilter = 2;     // a filter was set; it is not recorded
constexpr uint8_t kTraceSnapshot = 4;   // the read was as of a snapshot
constexpr uint8_t kTracePaged = 8;      // columns were counted or left out
// Bits of a scan.
constexpr uint8_t kTraceReversed = 1;
constexpr uint8_t kTraceStartInclusive = 2;
constexpr uint8_t kTraceStopInclusive = 4;
constexpr uint8_t kTraceRaw = 8;
constexpr uint8_t kTracePrefix = 16;  // the second key is a prefix, not a stop
constexpr uint8_t kTraceRanges = 32;  // a number of ranges follows, each a start and a stop
// Bits of a written column.
constexpr uint8_t kTraceTimestamp = 1;      // a number follows: the timestamp that was given
constexpr uint8_t kTraceLatestVersion = 2;  // Delete::latest_version
// Bits of a check.
constexpr uint8_t kTraceMatched = 1;
constexpr uint8_t kTraceHasColumn = 2;

// TraceHeader: the first bytes of a file. A point of time that both clocks saw relates ticks to nanoseconds.
struct TraceHeader {
  bool hashed = false;     // rows and qualifiers are hashes
  int64_t wall_ms = 0;     // at the beginning, milliseconds since the epoch
  uint64_t ticks = 0;      // at the beginning
  uint64_t steady_ns = 0;  // at the beginning, of the engine's steady clock
  uint32_t sample = 1;     // one row in so many is recorded
};
constexpr size_t kTraceHeaderBytes = 48;
std::string encode(const TraceHeader& header);
// kCorruption: too short, not a trace, damaged. kNotSupported: another version.
Result<TraceHeader> decode_trace_header(std::string_view bytes);

enum class TraceChunkKind : uint32_t { kRecords = 1, kEnd = 2 };

// TraceChunkHeader: stands before each chunk. A chunk holds records of one thread.
struct TraceChunkHeader {
  TraceChunkKind kind = TraceChunkKind::kRecords;
  bool compressed = false;    // by LZ4, in HBase's framing
  uint32_t stored_bytes = 0;  // after the header
  uint32_t plain_bytes = 0;
  uint32_t thread = 0;  // threads are numbered as they come, from 1
  uint32_t records = 0;
  uint64_t base_ticks = 0;  // the start times in the chunk are relative to it
  uint64_t ticks = 0;       // a later point of time that both clocks saw
  uint64_t steady_ns = 0;
  uint64_t lost = 0;  // operations that were not recorded, up to here
};
constexpr size_t kTraceChunkHeaderBytes = 64;
constexpr uint32_t kTracePlainBytesMax = 8u << 20;
// Returns the header with two checksums: that of itself, and that of itself and the stored payload.
std::string encode(const TraceChunkHeader& header, std::string_view stored);
// Reads a header. Returns false if these bytes are none. `crc` receives the checksum that is stored in it.
bool decode(std::string_view bytes, TraceChunkHeader& header, uint32_t& crc);
// Returns the checksum of a header's bytes and of the stored payload.
uint32_t chunk_crc(std::string_view header_bytes, std::string_view stored);

// Why a recording ended.
enum class TraceEnd : uint8_t { kStopped = 1, kLimit = 2 };

// TraceHash: SipHash-2-4 (Aumasson and Bernstein, 2012) under a key that is not stored. Without the key,
// neither can a name be recovered from its hash, nor a guess be checked.
class TraceHash {
 public:
  explicit TraceHash(std::array<uint64_t, 2> key) : key_(key) {}
  uint64_t operator()(std::string_view bytes) const;

 private:
  std::array<uint64_t, 2> key_;
};

}  // namespace cellar
