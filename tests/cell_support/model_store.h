// ModelStore: one family as a heap of cells, with the rules of the data model spelled out over all pairs of
// cells.
//
// The reference that random tests compare the engine with. Nothing here is fast, and nothing is shared with
// cell/. Each rule asks, for one cell, whether any other cell of the store affects it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "cell/rules.h"
#include "tests/cell_support/cell_text.h"

namespace cellar::testing {

// A read of one family. Rows [start, stop); an empty stop is open. Empty columns: all.
struct ModelQuery {
  std::string start = {};
  std::string stop = {};
  std::set<std::string> columns = {};
  uint32_t versions = 1;
  int64_t time_from = 0;
  int64_t time_until = kLatestTimestamp;
  bool strict_versions = false;  // what is newer than the range, or a deleted single version, counts too
  uint64_t read_point = UINT64_MAX;
  int64_t now_ms = 0;
  bool raw = false;
};

// The circumstances of a flush or compaction.
struct ModelRewrite {
  std::vector<uint64_t> snapshots = {};  // ascending, without the newest read point
  uint64_t read_point = UINT64_MAX;
  int64_t now_ms = 0;
  int64_t purge_deletes_ms = 0;
  int64_t earliest_outside = INT64_MAX;  // of what takes no part: markers from there on stay
  bool keep_versions = false;            // over the limit
  bool oldest_put_known = false;         // markers older than every put of the inputs may be recognised
  bool zero_sequences = false;  // as the engine does: all files, timestamp order, up to the oldest read point
};

class ModelStore {
 public:
  explicit ModelStore(FamilyRules rules) : rules_(rules) {}

  // Adds cells to memory, all of a single write with this sequence. If coordinates are equal, the last cell
  // stays.
  void write(const Cells& cells, uint64_t sequence);
  // Memory becomes the youngest run, after the removals of a flush. Nothing happens when memory is empty.
  void flush(const ModelRewrite& how);
  // The runs at these places (0 is the oldest; adjacent, ascending) become one in their place.
  void compact(const std::vector<size_t>& places, bool all_files, const ModelRewrite& how);

  // Returns the visible cells, in order.
  Cells read(const ModelQuery& query) const;

  // Returns the visible cells of these sources (youngest first), in order.
  static Cells visible(const std::vector<Cells>& sources, const FamilyRules& rules, const ModelQuery& query);

  // Everything stored, youngest source first: memory, then runs.
  std::vector<Cells> sources() const;
  const std::vector<Cells>& runs() const { return runs_; }  // oldest first
  const FamilyRules& rules() const { return rules_; }
  void set_rules(const FamilyRules& rules) { rules_ = rules; }  // an altered family

  // Returns the cells that a flush or compaction of these sources (youngest first) keeps, in order.
  static Cells rewritten(const std::vector<Cells>& sources, const FamilyRules& rules, bool all_files,
                         const ModelRewrite& how);

 private:
  FamilyRules rules_;
  Cells memory_;
  std::vector<Cells> runs_;
};

}  // namespace cellar::testing
