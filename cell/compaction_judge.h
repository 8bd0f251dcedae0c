// CompactionJudge: what a flush or compaction must keep (HBase's compaction matchers), for any list of open
// snapshots.
//
// HBase keeps every cell written after its smallest open read point. Here an old snapshot costs only the
// versions it needs. The open read points, ascending, the newest visible sequence last, cut the writes into
// strata; the view of a stratum is what a reader at its upper end sees: its own cells and those of the strata
// below. A cell is dropped iff HBase's table drops it in the view of its own stratum, because
//  - a marker seen by that view is seen by all later ones, so what it hides stays hidden;
//  - a put over the version limit there is so in all later views, unless a delete of a single version hides a
//    newer one from them: then it stays;
//  - of two cells of equal coordinates the later written one hides the other in every view that has both.
// A marker goes (only when all files take part) iff its stratum is the lowest: then every put it hides is in
// a view that has the marker, and is dropped by this very rewrite. Above the lowest one, an older snapshot
// may keep puts that the marker must go on hiding. It stays, too, if it may hide a put that takes no part in
// the rewrite, in memory for one: otherwise a compaction would show again what had been deleted, to snapshots
// as well. (HBase drops it and shows the put.)
//
// Cells newer than the newest read point decide nothing. Their markers are kept, their puts are dropped only
// if a marker in the newest view hides them: whoever will see the put sees the marker, unless this rewrite
// drops it, and then the put must go with it. Dropping the rest of a column (versions) means its puts: a
// marker there may still have to hide a put in another file. With no snapshots this is HBase's table.
//
// Families with sequence-ordered deletes lose nothing before a rewrite of all files, and nothing while a
// snapshot is open.
#pragma once

#include <array>
#include <vector>

#include "cell/delete_tracker.h"
#include "cell/rules.h"
#include "cell/sequence_tracker.h"
#include "cell/walk.h"

namespace cellar {

// One rewrite's judge. Always steps to the next cell, so that every cell is counted. One thread at a time.
class CompactionJudge {
 public:
  explicit CompactionJudge(const RewriteRules& rules);
  Verdict judge(const CellView& cell, Place place);
  const CellView& target() const { return target_; }

  // Cells dropped so far, per reason.
  const std::array<uint64_t, kDropReasons>& dropped() const { return dropped_; }
  // The newest timestamp of a marker that went, other than by its age; kOldestTimestamp: none did.
  int64_t newest_dropped_marker() const { return newest_dropped_marker_; }

 private:
  // What one view has seen of the current row and column.
  struct View {
    DeleteTracker deletes;
    uint64_t versions = 0;
    int64_t last_timestamp = kOldestTimestamp;
    CellType last_type = CellType::kMinimum;
  };
  void enter(Place place);
  Drop decide(const CellView& cell);
  Drop decide_marker(const CellView& marker, size_t stratum);
  Drop decide_put(const CellView& put, size_t stratum);
  Drop decide_by_sequence(const CellView& cell);
  Drop count(const CellView& cell, size_t stratum);
  size_t stratum_of(uint64_t sequence) const;
  bool hides(const CellView& marker) const;
  Drop decide_unpublished(const CellView& cell) const;
  bool over_limit(const CellView& cell, uint64_t versions) const;

  RewriteRules rules_;
  bool keeps_all_;           // sequence-ordered deletes, and not the moment to drop anything
  std::vector<View> views_;  // one a stratum, oldest first
  SequenceTracker sequences_;
  uint64_t visible_ = 0;  // by sequence: puts of the column let through so far
  CellView target_;
  std::array<uint64_t, kDropReasons> dropped_{};
  int64_t newest_dropped_marker_ = kOldestTimestamp;
};

}  // namespace cellar
