// ReadJudge: decides which cells of one family a reader sees (HBase's ScanQueryMatcher and its column
// trackers).
//
// Tests a cell in HBase's order: read point, times to live of family and cell, markers, hidden by a marker,
// time range, wanted column, versions. This order has a surprising result: a version that is deleted, or
// outside the time range, does not use up the version limit. Older versions then show as long as they are
// stored.
#pragma once

#include "cell/delete_tracker.h"
#include "cell/rules.h"
#include "cell/sequence_tracker.h"
#include "cell/walk.h"

namespace cellar {

// ReadJudge: the judge of one walk; holds integers and a borrowed list of wanted columns. One thread at a
// time.
class ReadJudge {
 public:
  explicit ReadJudge(const ReadRules& rules);
  Verdict judge(const CellView& cell, Place place);
  // Returns the key to go on at after kSeek: the first key of the next wanted column.
  const CellView& target() const { return target_.view(); }

 private:
  using Reason = uint64_t ReadExplanation::PassedOver::*;
  void enter(Place place);
  Verdict judge_raw(const CellView& cell);
  Verdict judge_put(const CellView& cell);
  Verdict judge_put_by_sequence(const CellView& cell);
  Verdict pass_counted(const CellView& cell, Reason reason);
  Verdict count(const CellView& cell);
  Verdict done_with_column(const CellView& cell, bool include);
  bool wants_column(const CellView& cell, Verdict& otherwise);
  void add_marker(const CellView& marker);
  // Counts the reason for the verdict if the reader asked for an explanation, and returns the verdict.
  const Verdict& pass(const Verdict& verdict, Reason reason) const {
    if (rules_.passed_over != nullptr) [[unlikely]]
      ++(rules_.passed_over->*reason);
    return verdict;
  }

  ReadRules rules_;
  uint32_t versions_max_;  // number of versions that may be returned per column
  int64_t time_last_;      // last timestamp of the range, inclusive; a range without end includes LATEST
  bool by_sequence_;
  DeleteTracker deletes_;
  SequenceTracker sequences_;
  size_t column_ = 0;           // index of the first wanted column of this row that is not yet passed
  bool column_wanted_ = false;  // True if the current column is known to be wanted (explicit columns)
  uint32_t versions_ = 0;       // versions counted in the current column
  uint32_t unseen_ = 0;         // counted in the current column though newer than the range, or hidden
  uint32_t shown_ = 0;          // by sequence: puts returned from the current column
  int64_t last_timestamp_ = kOldestTimestamp;  // timestamp of the column's last counted cell
  CellType last_type_ = CellType::kMinimum;    // raw reads: type of the column's last counted cell
  OwnedCell target_;
};

}  // namespace cellar
