// CompactionJudge: decides which cells a flush or compaction keeps (HBase's compaction matchers), for any
// list of open snapshots.
//
// HBase keeps every cell written after its smallest open read point. In Cellar an old snapshot costs only
// the versions that it needs. The open read points, ascending, with the newest visible sequence last,
// divide the writes into strata. The view of a stratum is what a reader at its upper end sees: the cells
// of the stratum and of the strata below it. A cell is dropped if and only if HBase's rules drop it in
// the view of its own stratum, because:
//  - A marker seen by that view is seen by all later views, so what the marker hides stays hidden.
//  - A put over the version limit in that view is over it in all later views. The exception is a delete of a
//    single version that hides a newer put from them; then the put stays.
//  - Of two cells of equal coordinates, the one written later hides the other in every view that has both.
//
// A marker is dropped (only when all files take part) if and only if its stratum is the lowest. Then
// every put that it hides is in a view that has the marker, and this very rewrite drops the put. In a
// higher stratum, an older snapshot may keep puts that the marker must still hide. A marker also stays if
// it may hide a put that takes no part in the rewrite, for example one in a memtable. Otherwise a
// compaction would make deleted data visible again, also to snapshots. (HBase drops the marker and shows
// the put.)
//
// Cells newer than the newest read point decide nothing. Their markers are kept. Their puts are dropped only
// if a marker in the newest view hides them. A reader that will see the put sees the marker, unless this
// rewrite drops the marker. Then the put must go with it. Dropping the rest of a column (versions) drops only
// its puts: a marker there may still have to hide a put in another file. With no snapshots these are HBase's
// rules.
//
// Families with sequence-ordered deletes lose nothing before a rewrite of all files, and nothing while a
// snapshot is open.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "cell/delete_tracker.h"
#include "cell/rules.h"
#include "cell/sequence_tracker.h"
#include "cell/walk.h"

namespace cellar {

// CompactionJudge: the judge of one rewrite. It always steps to the next cell, so that every cell is
// counted. One thread at a time.
class CompactionJudge {
 public:
  explicit CompactionJudge(const RewriteRules& rules);
  Verdict judge(const CellView& cell, Place place) {
    if (place == Place::kSameColumn || !keeps_newest(cell)) return judge_fully(cell, place);
    View& view = views_.front();
    view.versions = 1;
    view.last_timestamp = cell.timestamp;
    view.last_type = cell.type();
    ++dropped_[static_cast<size_t>(Drop::kKeep)];
    return {true, Step::kNextCell};
  }
  const CellView& target() const { return target_; }

  // Alone: tells whether judge_alone() takes a cell that is the only one of its row.
  struct Alone {
    static bool shows(const CellView& cell) { return cell.type() == CellType::kPut && cell.tags_size == 0; }
  };
  static Alone alone() { return {}; }
  // Every cell is to be counted, so judge() must see the older ones.
  static bool passes_older(const CellView&) { return false; }
  // Judges cells that alone() shows, each the only one of its row. Returns those that are kept. If there are
  // others, they are copies in `room`, which has room for all.
  std::span<const CellView> judge_alone(std::span<const CellView> rows, std::span<CellView> room);

  // Returns the number of cells judged so far, by reason for dropping them (kKeep: not dropped).
  const std::array<uint64_t, kDropReasons>& dropped() const { return dropped_; }
  // Returns the newest timestamp of a dropped marker, except markers dropped for their age. Returns
  // kOldestTimestamp without such a marker.
  int64_t newest_dropped_marker() const { return newest_dropped_marker_; }

 private:
  // View: the state of one view within the current row and column.
  struct View {
    DeleteTracker deletes;
    uint64_t versions = 0;
    int64_t last_timestamp = kOldestTimestamp;
    CellType last_type = CellType::kMinimum;
  };
  // Returns whether a cell is kept as the first of its column. No snapshot, and no marker of the row before
  // the cell, matters then.
  bool keeps_newest(const CellView& cell) const {
    return one_view_ && !row_has_markers_ && cell.sequence <= rules_.read_point &&
           cell.timestamp >= oldest_alone_ && Alone::shows(cell);
  }
  Verdict judge_fully(const CellView& cell, Place place);
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
  bool keeps_all_;                              // sequence-ordered deletes, and nothing may be dropped now
  bool one_view_;                               // deletes count by timestamp, and no snapshot is open
  int64_t oldest_alone_;                        // a put alone in its row is kept if it is not older
  bool row_has_markers_ = true;                 // True before the first row, too
  std::vector<View> views_;                     // one per stratum, oldest first
  std::unique_ptr<SequenceTracker> sequences_;  // null unless deletes count by sequence and cells may go
  uint64_t visible_ = 0;                        // for sequence order: puts of the column let through so far
  CellView target_;
  std::array<uint64_t, kDropReasons> dropped_{};
  int64_t newest_dropped_marker_ = kOldestTimestamp;
};

}  // namespace cellar
