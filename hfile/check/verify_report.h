// The options of verify() and its report.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"
#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "cellar/read_stats.h"
#include "hfile/format/format.h"

namespace cellar {

// Each level does what the ones before it do.
enum class VerifyLevel : uint8_t {
  kQuick,   // trailer, load-on-open section, file length
  kBlocks,  // every block's header, checksum, back-pointer, place in file and index
  kCells,   // decompress, decode; order, family, sequences, counts, first and last key, times, sizes in the
            // file info
  kDeep,    // each key found again through index and filter, filters rebuilt and compared
};
std::string_view verify_level_name(VerifyLevel level);
bool parse_verify_level(std::string_view name, VerifyLevel& level);

enum class VerifySeverity : uint8_t {
  kWarning,  // codes W-…: readable, and reported
  kError,    // codes V-…: the file is unsound
};

// One thing found. The codes are stable. Errors and warnings:
//
//   V-TRAILER V-OPEN V-HEADER V-CHECKSUM V-PLACE V-CODEC V-ENCODING V-CELL V-ORDER V-COUNT V-OFFSETS V-INDEX
//   V-INDEX-GAP V-INDEX-KEY V-LASTKEY V-TIMERANGE V-EARLIEST-PUT V-DELETE-COUNT V-META V-BLOOM
//   V-BLOOM-MISS V-SEEK V-SECTION V-INFO V-SEQUENCE
//
//   W-UNCHECKED W-INDEX-KEY W-PREV W-COMPARATOR W-NO-LASTKEY W-NO-AVERAGES W-AVERAGES W-TOTALS W-PLUGIN
//   W-FAMILIES W-MVCC W-TAGS W-BLOOM-IGNORED W-BLOOM-COUNT W-BLOOM-BITS
struct VerifyFinding {
  std::string code;
  VerifySeverity severity = VerifySeverity::kError;
  std::string text;
  std::optional<uint64_t> offset;        // in the file
  std::optional<uint64_t> disk_bytes;    // of the block there
  std::string block_kind;                // "data", or empty
  std::optional<uint64_t> data_ordinal;  // which data block, from 0
  // Rows whose cells may be lost: from `risk_first_row` up to `risk_end_row`, the latter excluded; absent: to
  // the end.
  bool rows_at_risk = false;
  std::string risk_first_row;
  std::optional<std::string> risk_end_row;
};

enum class VerifyVerdict : uint8_t {
  kSound,         // exit status 0
  kUnsound,       // 1
  kNotAnHFile,    // 3
  kUnreadable,    // 3: the medium failed
  kNotSupported,  // 4: sound as far as seen, but of a version, codec or encoding that is not built
};

struct VerifyReport {
  VerifyVerdict verdict = VerifyVerdict::kSound;
  VerifyLevel level = VerifyLevel::kCells;
  Status status;                        // why, for the verdicts that are neither sound nor unsound
  std::vector<VerifyFinding> findings;  // at most kFindingsMax; warnings of one code are one finding
  uint64_t findings_left_out = 0;
  uint64_t file_bytes = 0;
  uint64_t blocks = 0;  // seen
  uint64_t data_blocks = 0;
  uint64_t data_blocks_readable = 0;
  uint64_t cells = 0;           // decoded
  uint64_t cells_expected = 0;  // as the trailer counts
  uint64_t rows = 0;
  uint32_t index_levels = 0;
  std::string codec;
  std::string encoding;

  static constexpr size_t kFindingsMax = 1000;
};

// Sequences that cells may have, both ends included.
struct SequenceRange {
  uint64_t min = 0;
  uint64_t max = UINT64_MAX;
  bool holds(uint64_t sequence) const { return sequence >= min && sequence <= max; }
};

struct VerifyOptions {
  std::string name = {};  // for messages
  VerifyLevel level = VerifyLevel::kCells;
  // The range of sequences that the manifest of a store records for its file; checked from level cells on.
  SequenceRange sequences = {};
  uint64_t block_payload_bytes_max = kBlockPayloadBytesMax;
  // Its threads check blocks together with the calling thread; null: only the calling thread. The report does
  // not depend on it.
  Executor* executor = nullptr;
  // Called now and then with the bytes of the file and the cells that were checked. If it returns false, the
  // verification ends with a report of kUnreadable and kAborted. Level deep reads the data blocks twice.
  std::function<bool(uint64_t bytes, uint64_t cells)> progress = nullptr;
  // From level cells on: sees every cell that could be decoded, in the file's order, while it is checked; the
  // executor is not used then.
  std::function<void(const CellView&)> on_cell = {};
};

}  // namespace cellar
