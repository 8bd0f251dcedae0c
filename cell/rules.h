// FamilyRules, ReadRules, RewriteRules: the inputs of the judges, as plain values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cellar/cell.h"
#include "cellar/environment.h"
#include "cellar/explanation.h"
#include "cellar/options.h"

namespace cellar {

constexpr int64_t kTtlForeverMs = INT64_MAX;
// The time of a read that has not asked the clock yet.
constexpr int64_t kTimeNotAsked = INT64_MIN;

struct FamilyRules {
  uint32_t max_versions = 1;  // at least 1
  uint32_t min_versions = 0;  // at most max_versions; number of versions kept although expired
  int64_t ttl_ms = kTtlForeverMs;
  KeepDeleted keep_deleted_cells = KeepDeleted::kFalse;
  MarkerOrder delete_order = MarkerOrder::kTimestamp;
};

// Returns whether a cell with this timestamp is older than the family's time to live at `now_ms`. A cell of
// exactly that age is alive.
inline bool expired(const FamilyRules& family, int64_t timestamp, int64_t now_ms) {
  if (family.ttl_ms == kTtlForeverMs || timestamp >= now_ms) return false;
  return static_cast<uint64_t>(now_ms) - static_cast<uint64_t>(timestamp) >
         static_cast<uint64_t>(family.ttl_ms);
}
// Returns whether the time to live in the cell's own tag has passed.
bool cell_ttl_over(const CellView& cell, int64_t now_ms);

// Sequence of the cells that a transaction has written but not committed. It is newer than every stored
// cell, and every reader that is given these cells sees them.
constexpr uint64_t kUncommittedSequence = UINT64_MAX - 1;

struct ReadRules {
  FamilyRules family;
  uint32_t versions = 1;  // as requested; a plain read returns at most min(versions, family.max_versions)
  int64_t time_from = 0;  // cell timestamps in [from, until)
  int64_t time_until = kLatestTimestamp;
  // Returns whether no timestamp of a cell is outside the range.
  bool reads_all_times() const { return time_from <= 0 && time_until == kLatestTimestamp; }
  bool strict_versions = false;      // versions newer than the range count toward the family's limit
  uint64_t read_point = UINT64_MAX;  // cells with a higher sequence are invisible
  int64_t now_ms = 0;
  Clock* clock = nullptr;  // asked for `now_ms`, if that is kTimeNotAsked. Borrowed.
  bool raw = false;  // shows markers and masked cells, too; no family time to live, no family version limit
  // Wanted qualifiers, sorted, without duplicates; all columns if empty and !explicit_columns. Borrowed.
  std::span<const std::string> columns;
  bool explicit_columns = false;
  ReadExplanation::PassedOver* passed_over = nullptr;  // counters to add to; null: not requested
  // A filter sees every version that the family keeps (raw: every cell), and `versions` limits the versions
  // that the filter passes.
  bool filtered = false;

  void ask_time() {
    if (now_ms == kTimeNotAsked) now_ms = clock->wall_ms();
  }
};

struct RewriteRules {
  FamilyRules family;
  int64_t now_ms = 0;
  // Open read points, ascending, without the newest. Borrowed.
  std::span<const uint64_t> snapshots;
  uint64_t read_point = UINT64_MAX;  // newest visible sequence; cells above it are kept and hide nothing
  bool all_files = false;            // every file of the store takes part: markers may be dropped
  int64_t purge_deletes_ms = 0;      // markers younger than this stay
  // Smallest timestamp in the memtables and files outside the rewrite. Markers that may hide it stay.
  int64_t earliest_outside = INT64_MAX;
  // Keeps versions over the limit: a Delete outside the rewrite may hide newer versions from a reader.
  bool keep_versions = false;
  int64_t oldest_put_ts = kOldestTimestamp;  // smallest timestamp of a put in the inputs, if known
};

// Drop: the reason why a rewrite drops a cell; cells are counted per reason.
enum class Drop : uint8_t { kKeep, kExpired, kCellTtl, kMasked, kDuplicate, kVersions, kMarker };
constexpr size_t kDropReasons = 7;

}  // namespace cellar
