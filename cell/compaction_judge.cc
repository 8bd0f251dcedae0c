// CompactionJudge: HBase's rules for dropping cells, row by row.
#include "cell/compaction_judge.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

// Returns the timestamp from which on a put that is alone in its row is not expired. A version that
// min_versions keeps is kept at any age.
int64_t oldest_put_alone(const RewriteRules& rules, bool keeps_all) {
  const FamilyRules& family = rules.family;
  if (keeps_all || family.ttl_ms == kTtlForeverMs || family.min_versions > 0) return INT64_MIN;
  const int64_t oldest = family.ttl_ms < rules.now_ms ? rules.now_ms - family.ttl_ms : 0;
  CELLAR_ASSERT(!expired(family, oldest, rules.now_ms));
  return oldest;
}

}  // namespace

CompactionJudge::CompactionJudge(const RewriteRules& rules)
    : rules_(rules),
      keeps_all_(rules.family.delete_order == MarkerOrder::kSequence &&
                 (!rules.all_files || !rules.snapshots.empty())),
      one_view_(rules.family.delete_order == MarkerOrder::kTimestamp && rules.snapshots.empty()),
      oldest_alone_(oldest_put_alone(rules, keeps_all_)),
      views_(rules.snapshots.size() + 1) {
  if (rules.family.delete_order == MarkerOrder::kSequence && !keeps_all_)
    sequences_ = std::make_unique_for_overwrite<SequenceTracker>();
  CELLAR_ASSERT(std::ranges::is_sorted(rules.snapshots));
  CELLAR_ASSERT(rules.snapshots.empty() || rules.snapshots.back() <= rules.read_point);
  CELLAR_ASSERT(rules.family.max_versions > 0);
}

void CompactionJudge::enter(Place place) {
  if (place == Place::kSameColumn) return;
  if (place == Place::kNewRow) row_has_markers_ = false;
  for (View& view : views_) {
    if (place == Place::kNewRow) {
      view.deletes.enter_row();
    } else {
      view.deletes.enter_column();
    }
    view.versions = 0;
    view.last_timestamp = kOldestTimestamp;
    view.last_type = CellType::kMinimum;
  }
  if (sequences_ != nullptr) {
    if (place == Place::kNewRow) {
      sequences_->enter_row();
    } else {
      sequences_->enter_column();
    }
    visible_ = 0;
  }
}

size_t CompactionJudge::stratum_of(uint64_t sequence) const {
  return static_cast<size_t>(std::ranges::lower_bound(rules_.snapshots, sequence) - rules_.snapshots.begin());
}

Verdict CompactionJudge::judge_fully(const CellView& cell, Place place) {
  enter(place);
  const Drop drop = keeps_all_ ? Drop::kKeep : decide(cell);
  ++dropped_[static_cast<size_t>(drop)];
  if (drop != Drop::kKeep && drop != Drop::kExpired && drop != Drop::kCellTtl && is_delete(cell.type()))
    newest_dropped_marker_ = std::max(newest_dropped_marker_, cell.timestamp);
  return {drop == Drop::kKeep, Step::kNextCell};
}

// A put without a time to live of its own, and without other cells of its row, can only be too old.
std::span<const CellView> CompactionJudge::judge_alone(std::span<const CellView> rows,
                                                       std::span<CellView> room) {
  CELLAR_DCHECK(std::ranges::all_of(rows, Alone::shows) && rows.size() <= room.size());
  const size_t all = rows.size();
  if (oldest_alone_ != INT64_MIN) {
    size_t kept = 0;
    for (const CellView& cell : rows) {
      room[kept] = cell;
      kept += cell.timestamp >= oldest_alone_ ? 1 : 0;
    }
    if (kept != all) rows = room.first(kept);
  }
  dropped_[static_cast<size_t>(Drop::kKeep)] += rows.size();
  dropped_[static_cast<size_t>(Drop::kExpired)] += all - rows.size();
  return rows;
}

Drop CompactionJudge::decide(const CellView& cell) {
  if (rules_.family.min_versions == 0 && expired(rules_.family, cell.timestamp, rules_.now_ms))
    return Drop::kExpired;
  if (cell_ttl_over(cell, rules_.now_ms)) return Drop::kCellTtl;
  if (cell.sequence > rules_.read_point) return decide_unpublished(cell);
  if (rules_.family.delete_order == MarkerOrder::kSequence) return decide_by_sequence(cell);
  const size_t stratum = stratum_of(cell.sequence);
  return is_delete(cell.type()) ? decide_marker(cell, stratum) : decide_put(cell, stratum);
}

// Decides on a cell that no open read point sees. In sequence-ordered families, all markers seen are
// older than the cell, so they do not hide it.
Drop CompactionJudge::decide_unpublished(const CellView& cell) const {
  if (is_delete(cell.type()) || rules_.family.delete_order == MarkerOrder::kSequence) return Drop::kKeep;
  return views_.back().deletes.test(cell.timestamp) == Hidden::kNo ? Drop::kKeep : Drop::kMasked;
}

// Returns whether the marker removes puts in this rewrite.
bool CompactionJudge::hides(const CellView& marker) const {
  switch (rules_.family.keep_deleted_cells) {
    case KeepDeleted::kFalse:
      return true;
    case KeepDeleted::kTrue:
      return false;
    case KeepDeleted::kTtl:
      return expired(rules_.family, marker.timestamp, rules_.now_ms);
  }
  return true;
}

Drop CompactionJudge::decide_marker(const CellView& marker, size_t stratum) {
  CELLAR_ASSERT(is_delete(marker.type()) && stratum < views_.size());
  if (hides(marker)) {
    row_has_markers_ = true;
    for (size_t i = stratum; i < views_.size(); ++i) views_[i].deletes.add(marker);
  }
  if (!rules_.all_files) return Drop::kKeep;
  if (rules_.purge_deletes_ms > 0 && rules_.now_ms - marker.timestamp <= rules_.purge_deletes_ms)
    return Drop::kKeep;
  if (stratum != 0 || marker.timestamp >= rules_.earliest_outside) return Drop::kKeep;
  if (hides(marker)) return Drop::kMarker;
  if (marker.timestamp < rules_.oldest_put_ts) return Drop::kMarker;
  return count(marker, stratum);
}

Drop CompactionJudge::decide_put(const CellView& put, size_t stratum) {
  CELLAR_ASSERT(!is_delete(put.type()) && stratum < views_.size());
  if (views_[stratum].deletes.test(put.timestamp) != Hidden::kNo) {
    // A put hidden in this view is hidden in every later view, so it counts in none of them.
    return Drop::kMasked;
  }
  return count(put, stratum);
}

// Counts the cell (duplicates and versions) in its own view and in all later views that can see it. Drops
// it if it exceeds the limit in all of them.
Drop CompactionJudge::count(const CellView& cell, size_t stratum) {
  const bool marker = is_delete(cell.type());
  uint64_t least = UINT64_MAX;  // versions in the view that has the fewest
  bool duplicate = false;
  for (size_t i = stratum; i < views_.size(); ++i) {
    View& view = views_[i];
    if (view.last_timestamp == cell.timestamp && view.last_type == cell.type()) {
      duplicate = duplicate || i == stratum;
      continue;  // a later write with these coordinates was counted
    }
    if (!marker && i != stratum && view.deletes.test(cell.timestamp) != Hidden::kNo) continue;
    view.last_timestamp = cell.timestamp;
    view.last_type = cell.type();
    if (!marker) ++view.versions;
    least = std::min(least, view.versions);
  }
  CELLAR_ASSERT(duplicate || least != UINT64_MAX);  // its own view counted the cell, or had it already
  if (duplicate) return Drop::kDuplicate;
  return !rules_.keep_versions && over_limit(cell, least) ? Drop::kVersions : Drop::kKeep;
}

// Returns whether `versions` exceeds the limit, which is lower for an expired cell.
bool CompactionJudge::over_limit(const CellView& cell, uint64_t versions) const {
  if (versions > rules_.family.max_versions) return true;
  return rules_.family.min_versions != 0 && versions > rules_.family.min_versions &&
         expired(rules_.family, cell.timestamp, rules_.now_ms);
}

Drop CompactionJudge::decide_by_sequence(const CellView& cell) {
  CELLAR_ASSERT(rules_.all_files && rules_.snapshots.empty());  // else keeps_all_ has decided
  if (is_delete(cell.type())) {
    if (hides(cell)) sequences_->add(cell);
    if (rules_.purge_deletes_ms > 0 && rules_.now_ms - cell.timestamp <= rules_.purge_deletes_ms)
      return Drop::kKeep;
    if (hides(cell)) return Drop::kMarker;
    return cell.timestamp < rules_.oldest_put_ts ? Drop::kMarker : Drop::kKeep;
  }
  switch (sequences_->put(cell, rules_.family.max_versions)) {
    case SequenceTracker::Fate::kHidden:
      return Drop::kMasked;
    case SequenceTracker::Fate::kOverwritten:
      return Drop::kDuplicate;
    case SequenceTracker::Fate::kOverLimit:
      return Drop::kVersions;
    case SequenceTracker::Fate::kVisible:
      break;
  }
  ++visible_;
  return over_limit(cell, visible_) ? Drop::kVersions : Drop::kKeep;
}

}  // namespace cellar
