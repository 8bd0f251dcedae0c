// ReadJudge: decides which cells of one family a reader sees (HBase's ScanQueryMatcher and its column
// trackers).
//
// Tests a cell in HBase's order: read point, times to live of family and cell, markers, hidden by a marker,
// time range, wanted column, versions. This order has a surprising result: a version that is deleted, or
// outside the time range, does not use up the version limit. Older versions then show as long as they are
// stored.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "cell/delete_tracker.h"
#include "cell/rules.h"
#include "cell/sequence_tracker.h"
#include "cell/walk.h"

namespace cellar {

// ReadJudge: the judge of one walk; holds integers and a borrowed list of wanted columns. One thread at a
// time.
class ReadJudge {
 public:
  // The rules may lack a time and have a clock, if the cells of the family live for ever.
  explicit ReadJudge(const ReadRules& rules);
  // Most cells are the first of a column and a put that nothing hides: they pass by a few comparisons.
  Verdict judge(const CellView& cell, Place place) {
    if (place != Place::kSameColumn && is_plain(cell, place)) return enter_plain(cell, place);
    return judge_fully(cell, place);
  }
  // Alone: tells if judge() shows a cell as the only one of its column, in a row without markers, if the
  // column is wanted. A value, so that loops keep it in registers.
  struct Alone {
    uint64_t read_point;
    int64_t time_first;
    int64_t time_last;

    bool shows(const CellView& cell) const {
      return cell.type() == CellType::kPut && cell.sequence <= read_point && cell.timestamp >= time_first &&
             cell.timestamp <= time_last && cell.tags_size == 0;
    }
  };
  Alone alone() const { return {rules_.read_point, plain_.time_first, plain_.time_last}; }
  bool shows_alone(const CellView& cell) const { return alone().shows(cell); }
  // Returns whether judge() passes over the cell, if a newer one of its column was shown.
  bool passes_older(const CellView& cell) const {
    return plain_.then == Step::kNextColumn && !covers_family(cell.type());
  }
  bool wants_all_columns() const { return !rules_.explicit_columns; }
  // Returns whether more than one column is wanted. To find a single one, a walk looks at fewer cells.
  bool wants_some_columns() const { return rules_.columns.size() > 1; }
  // Calls take(cell) for each cell of a wanted column. The columns of the cells differ. Returns the number of
  // the first cells that decide about the row; 0 if a later cell might still be wanted.
  template <class Take>
  size_t for_each_wanted(std::span<const CellView> row, const Take& take) const {
    CELLAR_DCHECK(rules_.explicit_columns);
    const auto end = rules_.columns.end();
    auto wanted = rules_.columns.begin();
    uint64_t wanted_word = wanted != end ? row_word(*wanted, 0) : 0;
    const auto pass_wanted = [&] {
      if (++wanted != end) wanted_word = row_word(*wanted, 0);
    };
    for (size_t i = 0; i < row.size(); ++i) {
      const uint64_t word = qualifier_word(row[i]);
      int order = -1;
      while (wanted != end && (order = compare_qualifiers(*wanted, wanted_word, row[i], word)) < 0)
        pass_wanted();
      if (wanted == end) return i + 1;
      if (order != 0) continue;
      take(row[i]);
      pass_wanted();
      if (wanted == end && plain_.then == Step::kNextColumn) return i + 1;
    }
    return 0;
  }
  // Returns whether the column of the cell comes after all wanted ones.
  bool is_past_wanted(const CellView& cell) const {
    return rules_.explicit_columns && !rules_.columns.empty() && cell.qualifier() > rules_.columns.back();
  }
  // Returns whether a judge by these rules shows the first cell of a wanted column. The row has no markers of
  // the family.
  static bool shows_newest(const CellView& cell, const ReadRules& rules) {
    CELLAR_DCHECK(!rules.raw);
    return cell.type() == CellType::kPut && cell.sequence <= rules.read_point && cell.tags_size == 0 &&
           cell.timestamp >= rules.time_from &&
           (cell.timestamp < rules.time_until || rules.time_until == kLatestTimestamp) &&
           rules.family.delete_order != MarkerOrder::kSequence &&
           !expired(rules.family, cell.timestamp, rules.now_ms);
  }
  // Returns the key to go on at after kSeek: the first key of the next wanted column.
  const CellView& target() const { return target_.view(); }
  // Returns the number of markers and of puts that they hide, as far as the judge has met them.
  uint64_t hidden() const { return hidden_; }
  // Returns the rows of the first and of the last markers, about. Both are empty before kHiddenPerNote cells
  // are hidden.
  std::pair<std::string_view, std::string_view> hidden_rows() const {
    if (hidden_from_ == nullptr) return {};
    return {hidden_from_->first, hidden_from_->second};
  }
  static constexpr uint64_t kHiddenPerNote = 128;  // the row is noted once in so many hidden cells

 private:
  using Reason = uint64_t ReadExplanation::PassedOver::*;
  // Plain: the cells that are shown if they are the first of a wanted column and no marker hides them. The
  // rules tell it once for all cells.
  struct Plain {
    int64_t time_first = 0;
    int64_t time_last = 0;
    Step then = Step::kNextCell;
  };
  static Plain plain_by(const ReadRules& rules, int64_t time_last, uint32_t versions_max);

  // Returns whether judge_fully() would show this first cell of a column, if the column is wanted.
  bool is_plain(const CellView& cell, Place place) const {
    return shows_alone(cell) && (place == Place::kNewRow || !deletes_.has_family_markers());
  }
  Verdict enter_plain(const CellView& cell, Place place) {
    CELLAR_DCHECK(!by_sequence_);
    if (rules_.explicit_columns) return enter_wanted(cell, place);
    if (place == Place::kNewRow) {
      deletes_.enter_row();
    } else {
      deletes_.enter_column();
    }
    versions_ = 1;
    unseen_ = 0;
    last_timestamp_ = cell.timestamp;
    return {true, plain_.then};
  }
  Verdict enter_wanted(const CellView& cell, Place place);
  Verdict judge_fully(const CellView& cell, Place place);
  void enter(Place place);
  Verdict judge_raw(const CellView& cell);
  Verdict judge_put(const CellView& cell);
  Verdict judge_put_by_sequence(const CellView& cell);
  Verdict pass_counted(const CellView& cell, Reason reason);
  Verdict count(const CellView& cell);
  Verdict done_with_column(const CellView& cell, bool include);
  bool wants_column(const CellView& cell, Verdict& otherwise);
  void add_marker(const CellView& marker);
  void count_hidden(const CellView& cell) {
    if (++hidden_ % kHiddenPerNote == 0) [[unlikely]]
      note_hidden(cell.row());
  }
  void note_hidden(std::string_view row);
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
  Plain plain_;
  DeleteTracker deletes_;
  std::unique_ptr<SequenceTracker> sequences_;  // null unless by_sequence_
  size_t column_ = 0;           // index of the first wanted column of this row that is not yet passed
  bool column_wanted_ = false;  // True if the current column is known to be wanted (explicit columns)
  uint32_t versions_ = 0;       // versions counted in the current column
  uint32_t unseen_ = 0;         // counted in the current column though newer than the range, or hidden
  uint32_t shown_ = 0;          // by sequence: puts returned from the current column
  int64_t last_timestamp_ = kOldestTimestamp;  // timestamp of the column's last counted cell
  CellType last_type_ = CellType::kMinimum;    // raw reads: type of the column's last counted cell
  OwnedCell target_;
  uint64_t hidden_ = 0;
  std::unique_ptr<std::pair<std::string, std::string>> hidden_from_;  // rows; null before the first note
};

}  // namespace cellar
