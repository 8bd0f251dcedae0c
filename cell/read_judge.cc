// ReadJudge: HBase's rules of visibility for reads.
#include "cell/read_judge.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

constexpr Verdict kPassBy{false, Step::kNextCell};
constexpr Verdict kPassColumn{false, Step::kNextColumn};
using Over = ReadExplanation::PassedOver;

// Returns the number of versions of a column that the judge passes. A filter runs before the read's own
// limit counts. It must therefore see all versions that the family keeps or, in a raw read, all stored
// versions.
uint32_t versions_judged(const ReadRules& rules) {
  if (rules.raw) return rules.filtered ? UINT32_MAX : rules.versions;
  return rules.filtered ? rules.family.max_versions : std::min(rules.versions, rules.family.max_versions);
}

}  // namespace

ReadJudge::ReadJudge(const ReadRules& rules)
    : rules_(rules),
      versions_max_(versions_judged(rules)),
      time_last_(rules.time_until == kLatestTimestamp ? kLatestTimestamp : rules.time_until - 1),
      by_sequence_(rules.family.delete_order == MarkerOrder::kSequence && !rules.raw),
      plain_(plain_by(rules, time_last_, versions_max_)) {
  if (by_sequence_) sequences_ = std::make_unique_for_overwrite<SequenceTracker>();
  CELLAR_DCHECK(rules.explicit_columns || rules.columns.empty());
  CELLAR_DCHECK(std::ranges::is_sorted(rules.columns, std::less_equal()) || rules.columns.size() < 2);
  CELLAR_DCHECK(rules.family.max_versions > 0);
}

ReadJudge::Plain ReadJudge::plain_by(const ReadRules& rules, int64_t time_last, uint32_t versions_max) {
  CELLAR_DCHECK(versions_max > 0);
  const FamilyRules& family = rules.family;
  Plain plain{.time_first = rules.time_from, .time_last = time_last};
  if (rules.raw || family.min_versions != 0 || family.delete_order == MarkerOrder::kSequence) {
    plain.time_first = INT64_MAX;  // no cell is in this range
    plain.time_last = INT64_MIN;
  }
  if (family.ttl_ms != kTtlForeverMs && family.ttl_ms < rules.now_ms)
    plain.time_first = std::max(plain.time_first, rules.now_ms - family.ttl_ms);
  const bool is_last = versions_max == 1 || family.max_versions == 1;
  plain.then = is_last ? Step::kNextColumn : Step::kNextCell;
  return plain;
}

void ReadJudge::enter(Place place) {
  if (place == Place::kSameColumn) return;
  if (place == Place::kNewRow) {
    deletes_.enter_row();
    if (by_sequence_) sequences_->enter_row();
    column_ = 0;
  } else {
    deletes_.enter_column();
    if (by_sequence_) sequences_->enter_column();
  }
  column_wanted_ = false;
  versions_ = 0;
  unseen_ = 0;
  shown_ = 0;
  last_timestamp_ = kOldestTimestamp;
}

// Returns whether the cell's column is wanted; if not, sets `otherwise` to the step to take.
bool ReadJudge::wants_column(const CellView& cell, Verdict& otherwise) {
  CELLAR_DCHECK(rules_.explicit_columns && !covers_family(cell.type()));
  const std::string_view qualifier = cell.qualifier();
  for (; column_ < rules_.columns.size(); ++column_) {
    const int order = std::string_view(rules_.columns[column_]).compare(qualifier);
    if (order == 0) return true;
    if (order > 0) break;
  }
  if (column_ == rules_.columns.size()) {
    otherwise = {false, Step::kNextRow};
    return false;
  }
  first_of_column(target_, cell.row(), cell.family(), rules_.columns[column_]);
  otherwise = {false, Step::kSeek};
  return false;
}

// Judges a plain cell by its column alone.
Verdict ReadJudge::enter_wanted(const CellView& cell, Place place) {
  CELLAR_DCHECK(place != Place::kSameColumn && rules_.explicit_columns && is_plain(cell, place));
  enter(place);
  Verdict otherwise = kPassBy;
  column_wanted_ = wants_column(cell, otherwise);
  if (!column_wanted_) return pass(otherwise, &Over::other_column);
  versions_ = 1;
  last_timestamp_ = cell.timestamp;
  return plain_.then == Step::kNextColumn ? done_with_column(cell, true) : Verdict{true, Step::kNextCell};
}

Verdict ReadJudge::judge_fully(const CellView& cell, Place place) {
  rules_.ask_time();  // the cell may have a time to live of its own
  enter(place);
  if (cell.sequence > rules_.read_point && cell.sequence != kUncommittedSequence)
    return pass(kPassBy, &Over::newer);
  if (rules_.raw) return judge_raw(cell);
  // Family-wide markers count, whatever columns are wanted.
  if (rules_.explicit_columns && !column_wanted_ && !covers_family(cell.type())) {
    Verdict otherwise = kPassBy;
    column_wanted_ = wants_column(cell, otherwise);
    if (!column_wanted_) return pass(otherwise, &Over::other_column);
  }
  if (rules_.family.min_versions == 0 && expired(rules_.family, cell.timestamp, rules_.now_ms))
    return pass(kPassColumn, &Over::expired);
  if (cell_ttl_over(cell, rules_.now_ms)) return pass(kPassBy, &Over::cell_expired);
  if (is_delete(cell.type())) {
    add_marker(cell);
    count_hidden(cell);
    return pass(kPassBy, &Over::markers);
  }
  return by_sequence_ ? judge_put_by_sequence(cell) : judge_put(cell);
}

// Adds a marker. Without keep_deleted_cells, a marker newer than the time range counts, too, so that a
// read as of the past does not resurrect deleted cells. With keep_deleted_cells, only markers inside the
// range count, so a read can show what was deleted since.
void ReadJudge::add_marker(const CellView& marker) {
  CELLAR_DCHECK(!rules_.raw && is_delete(marker.type()));
  if (marker.timestamp < rules_.time_from) return;
  if (rules_.family.keep_deleted_cells != KeepDeleted::kFalse && marker.timestamp > time_last_) return;
  if (by_sequence_) {
    sequences_->add(marker);
  } else {
    deletes_.add(marker);
  }
}

// Rows may come in either direction.
void ReadJudge::note_hidden(std::string_view row) {
  CELLAR_ASSERT(hidden_ >= kHiddenPerNote && !row.empty());
  if (hidden_from_ == nullptr) {
    hidden_from_ = std::make_unique<std::pair<std::string, std::string>>(row, row);
  } else if (row > hidden_from_->second) {
    hidden_from_->second = row;
  } else if (row < hidden_from_->first) {
    hidden_from_->first = row;
  }
}

Verdict ReadJudge::judge_put(const CellView& cell) {
  CELLAR_DCHECK(!rules_.raw && !by_sequence_);
  switch (deletes_.test(cell.timestamp)) {
    case Hidden::kByFamily:
    case Hidden::kByColumn:
      count_hidden(cell);
      return pass(kPassColumn, &Over::hidden);
    case Hidden::kByVersion:
    case Hidden::kByFamilyVersion:
      count_hidden(cell);
      return pass_counted(cell, &Over::hidden);
    case Hidden::kNo:
      break;
  }
  if (cell.timestamp > time_last_) return pass_counted(cell, &Over::outside_times);
  if (cell.timestamp < rules_.time_from) return pass(kPassColumn, &Over::outside_times);
  if (cell.timestamp == last_timestamp_ && versions_ > 0)
    return pass(kPassBy, &Over::overwritten);  // the cell was written twice, and the later write came first
  last_timestamp_ = cell.timestamp;
  return count(cell);
}

// Passes over a put that is newer than the time range, or a single version that was deleted. The put may
// still count as one of the versions that the family keeps.
Verdict ReadJudge::pass_counted(const CellView& cell, Reason reason) {
  CELLAR_DCHECK(!is_delete(cell.type()));
  if (!rules_.strict_versions || (versions_ + unseen_ > 0 && cell.timestamp == last_timestamp_))
    return pass(kPassBy, reason);
  last_timestamp_ = cell.timestamp;
  if (versions_ + ++unseen_ < rules_.family.max_versions) return pass(kPassBy, reason);
  return pass(done_with_column(cell, false), reason);
}

// Counts a surviving put. The k-th one is returned if and only if k is within the limit, and within
// min_versions if it has expired.
Verdict ReadJudge::count(const CellView& cell) {
  ++versions_;
  const bool too_old = rules_.family.min_versions != 0 && versions_ + unseen_ > rules_.family.min_versions &&
                       expired(rules_.family, cell.timestamp, rules_.now_ms);
  CELLAR_DCHECK(cell.timestamp >= rules_.time_from && cell.timestamp <= time_last_);
  if (too_old || versions_ > versions_max_)
    return pass(done_with_column(cell, false), too_old ? &Over::expired : &Over::over_versions);
  if (versions_ == versions_max_ || versions_ + unseen_ >= rules_.family.max_versions)
    return done_with_column(cell, true);
  return {true, Step::kNextCell};
}

// Ends the column: no more of it is wanted. While the walk leaves the empty column it still shows
// family-wide markers.
Verdict ReadJudge::done_with_column(const CellView& cell, bool include) {
  if (!rules_.explicit_columns) return {include, Step::kNextColumn};
  CELLAR_DCHECK(column_wanted_ && column_ < rules_.columns.size());
  if (column_ + 1 == rules_.columns.size()) return {include, Step::kNextRow};
  first_of_column(target_, cell.row(), cell.family(), rules_.columns[column_ + 1]);
  return {include, Step::kSeek};
}

// Versions are counted before the time range is checked, and a hidden put decides nothing about older
// puts.
Verdict ReadJudge::judge_put_by_sequence(const CellView& cell) {
  CELLAR_DCHECK(by_sequence_ && !rules_.raw);
  switch (sequences_->put(cell, rules_.family.max_versions)) {
    case SequenceTracker::Fate::kVisible:
      break;
    case SequenceTracker::Fate::kHidden:
      count_hidden(cell);
      return pass(kPassBy, &Over::hidden);
    case SequenceTracker::Fate::kOverwritten:
      return pass(kPassBy, &Over::overwritten);
    case SequenceTracker::Fate::kOverLimit:
      return pass(kPassBy, &Over::over_versions);
  }
  if (cell.timestamp > time_last_ || cell.timestamp < rules_.time_from)
    return pass(kPassBy, &Over::outside_times);
  ++shown_;
  const bool too_old = rules_.family.min_versions != 0 && shown_ > rules_.family.min_versions &&
                       expired(rules_.family, cell.timestamp, rules_.now_ms);
  if (too_old || shown_ > versions_max_)
    return pass(done_with_column(cell, false), too_old ? &Over::expired : &Over::over_versions);
  return shown_ == versions_max_ ? done_with_column(cell, true) : Verdict{true, Step::kNextCell};
}

// Judges a raw read: everything still stored. The family's time to live and deletes do not apply; the
// version limit is the read's own and counts only puts. With a filter nothing is counted here: ReadFilter
// counts the cells that pass.
Verdict ReadJudge::judge_raw(const CellView& cell) {
  if (cell_ttl_over(cell, rules_.now_ms)) return pass(kPassBy, &Over::cell_expired);
  if (cell.timestamp > time_last_) return pass(kPassBy, &Over::outside_times);
  if (cell.timestamp < rules_.time_from) return pass(kPassColumn, &Over::outside_times);
  if (cell.timestamp == last_timestamp_ && cell.type() == last_type_)
    return pass(kPassBy, &Over::overwritten);
  if (!is_delete(cell.type()) && versions_ == versions_max_) return pass(kPassColumn, &Over::over_versions);
  if (!is_delete(cell.type())) ++versions_;
  last_timestamp_ = cell.timestamp;
  last_type_ = cell.type();
  return {true, Step::kNextCell};
}

}  // namespace cellar
