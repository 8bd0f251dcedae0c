// FamilyRules, ReadRules, RewriteRules: what judges need to know, as plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"
#include "cellar/explanation.h"

namespace cellar {

enum class KeepDeletedCells : uint8_t { kFalse, kTrue, kTtl };
enum class DeleteOrder : uint8_t {
  kTimestamp,  // HBase's default: a marker hides puts by timestamp, whenever they were written
  kSequence,   // NEW_VERSION_BEHAVIOR: only puts written before the marker
};

constexpr int64_t kTtlForeverMs = INT64_MAX;

struct FamilyRules {
  uint32_t max_versions = 1;  // at least 1
  uint32_t min_versions = 0;  // at most max_versions; keeps that many although expired
  int64_t ttl_ms = kTtlForeverMs;
  KeepDeletedCells keep_deleted_cells = KeepDeletedCells::kFalse;
  DeleteOrder delete_order = DeleteOrder::kTimestamp;
};

// Whether a cell of this timestamp is older than the family's time to live at `now_ms` (a cell exactly that
// old is alive).
inline bool expired(const FamilyRules& family, int64_t timestamp, int64_t now_ms) {
  if (family.ttl_ms == kTtlForeverMs || timestamp >= now_ms) return false;
  return static_cast<uint64_t>(now_ms) - static_cast<uint64_t>(timestamp) >
         static_cast<uint64_t>(family.ttl_ms);
}
// Whether the cell's own time-to-live tag is over.
bool cell_ttl_over(const CellView& cell, int64_t now_ms);

// The sequence of cells that a transaction has written and not committed: newer than every stored cell, and
// seen by every reader that is shown them.
constexpr uint64_t kUncommittedSequence = UINT64_MAX - 1;

struct ReadRules {
  FamilyRules family;
  uint32_t versions = 1;  // as asked; a plain read returns at most min(versions, family.max_versions)
  int64_t time_from = 0;  // [from, until) on cell timestamps
  int64_t time_until = kLatestTimestamp;
  bool strict_versions = false;      // versions newer than the range count towards the family's limit
  uint64_t read_point = UINT64_MAX;  // cells with a higher sequence do not exist
  int64_t now_ms = 0;
  bool raw = false;  // markers and masked cells too; no family time to live, no family version limit
  // Wanted qualifiers, sorted, without duplicates; empty and !explicit_columns: all. Borrowed.
  std::span<const std::string> columns;
  bool explicit_columns = false;
  ReadExplanation::PassedOver* passed_over = nullptr;  // counted into; null: nobody asked
  bool filtered = false;  // a filter sees every version the family keeps (raw: every cell), and `versions`
                          // limits what it passes
};

struct RewriteRules {
  FamilyRules family;
  int64_t now_ms = 0;
  std::span<const uint64_t>
      snapshots;  // read points that somebody may still read at, ascending, without the newest; borrowed
  uint64_t read_point = UINT64_MAX;  // the newest visible sequence; cells above it are kept and mask nothing
  bool all_files = false;            // every file of the store takes part: markers may go
  int64_t purge_deletes_ms = 0;      // markers younger than this stay
  int64_t earliest_outside = INT64_MAX;  // smallest timestamp in what takes no part, memory included: markers
                                         // that may hide something there stay
  bool keep_versions = false;  // somebody may see versions over the limit: a delete of single ones, which
                               // takes no part, may hide newer ones from him
  int64_t oldest_put_ts = kOldestTimestamp;  // smallest timestamp of a put in the inputs, if known
};

// Why a rewrite drops a cell; counted per reason.
enum class Drop : uint8_t { kKeep, kExpired, kCellTtl, kMasked, kDuplicate, kVersions, kMarker };
constexpr size_t kDropReasons = 7;
std::string_view drop_name(Drop drop);

}  // namespace cellar
