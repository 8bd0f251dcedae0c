// ReadJudge: what a reader may see of one family (HBase's ScanQueryMatcher and its column trackers).
//
// Tests a cell in HBase's order: read point, family time to live, cell time to live, markers, hidden by a
// marker, time range, wanted column, versions. From that order follow two answers that surprise: a version
// deleted, or outside the time range, does not use up the version limit, so that older ones show as long as
// they are stored.
#pragma once

#include "cell/delete_tracker.h"
#include "cell/rules.h"
#include "cell/sequence_tracker.h"
#include "cell/walk.h"

namespace cellar {

// One walk's judge; holds integers and a borrowed list of wanted columns. One thread at a time.
class ReadJudge {
 public:
  explicit ReadJudge(const ReadRules& rules);
  Verdict judge(const CellView& cell, Place place);
  // After kSeek: the first key of the next wanted column.
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
  // The verdict, with its reason counted for whoever asked.
  const Verdict& pass(const Verdict& verdict, Reason reason) const {
    if (rules_.passed_over != nullptr) [[unlikely]]
      ++(rules_.passed_over->*reason);
    return verdict;
  }

  ReadRules rules_;
  uint32_t versions_max_;  // returned of a column
  int64_t time_last_;  // the last timestamp of the range, inclusive: a range without an end takes LATEST too
  bool by_sequence_;
  DeleteTracker deletes_;
  SequenceTracker sequences_;
  size_t column_ = 0;           // the first wanted column that is not behind us in this row
  bool column_wanted_ = false;  // known to be, of the current column, when columns are explicit
  uint32_t versions_ = 0;       // counted of the current column
  uint32_t unseen_ = 0;         // of the current column, counted although newer than the range, or hidden
  uint32_t shown_ = 0;          // by sequence: returned of the current column
  int64_t last_timestamp_ = kOldestTimestamp;  // of the last counted cell of the column
  CellType last_type_ = CellType::kMinimum;    // raw: its type
  OwnedCell target_;
};

}  // namespace cellar
