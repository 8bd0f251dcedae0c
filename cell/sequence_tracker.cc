// SequenceTracker.
#include "cell/sequence_tracker.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {

void SequenceTracker::enter_row() {
  family_markers_.clear();
  enter_column();
}

void SequenceTracker::enter_column() {
  column_markers_.clear();
  counted_.clear();
  any_put_ = false;
  moments_.clear();
  moments_.push_back({kNever, 0});
  for (const Marker& marker : family_markers_) add_moment(marker.sequence);
  CELLAR_DCHECK(moments_.size() <= family_markers_.size() + 1 && moments_.front().before == kNever);
}

void SequenceTracker::add_moment(uint64_t before) {
  if (std::ranges::find(moments_, before, &Moment::before) != moments_.end()) return;
  const auto alive = std::ranges::count_if(
      counted_, [&](const Counted& put) { return put.sequence < before && put.death >= before; });
  moments_.push_back({before, static_cast<uint64_t>(alive)});
}

void SequenceTracker::add(const CellView& marker) {
  CELLAR_ASSERT(is_delete(marker.type()));
  (covers_family(marker.type()) ? family_markers_ : column_markers_)
      .push_back({marker.type(), marker.timestamp, marker.sequence});
  add_moment(marker.sequence);
}

uint64_t SequenceTracker::death_of(const CellView& cell) const {
  uint64_t death = kNever;
  const auto consider = [&](const Marker& marker) {
    if (marker.sequence <= cell.sequence) return;
    const bool exact = marker.type == CellType::kDelete || marker.type == CellType::kDeleteFamilyVersion;
    if (exact ? cell.timestamp == marker.timestamp : cell.timestamp <= marker.timestamp)
      death = std::min(death, marker.sequence);
  };
  for (const Marker& marker : family_markers_) consider(marker);
  for (const Marker& marker : column_markers_) consider(marker);
  CELLAR_DCHECK(death == kNever || death > cell.sequence);
  return death;
}

SequenceTracker::Fate SequenceTracker::put(const CellView& cell, uint32_t max_versions) {
  CELLAR_ASSERT(!is_delete(cell.type()) && max_versions > 0);
  CELLAR_ASSERT(!moments_.empty());  // enter_row() was called, and "now" is always there
  const bool overwritten = any_put_ && last_timestamp_ == cell.timestamp;
  uint64_t death = death_of(cell);
  if (overwritten) death = std::min(death, last_sequence_);
  any_put_ = true;
  last_timestamp_ = cell.timestamp;
  last_sequence_ = cell.sequence;
  // At some moment newer puts had reached the limit. No older put could be within the limit at that
  // moment. So this put need not be counted for older puts at earlier moments.
  const bool over_limit = std::ranges::any_of(moments_, [&](const Moment& moment) {
    return moment.before > cell.sequence && moment.alive >= max_versions;
  });
  if (!over_limit) {
    for (Moment& moment : moments_)
      if (cell.sequence < moment.before && death >= moment.before) ++moment.alive;
    counted_.push_back({cell.sequence, death});
  }
  CELLAR_DCHECK(
      std::ranges::all_of(moments_, [&](const Moment& each) { return each.alive <= counted_.size(); }));
  if (overwritten) return Fate::kOverwritten;
  if (death != kNever) return Fate::kHidden;
  return over_limit ? Fate::kOverLimit : Fate::kVisible;
}

}  // namespace cellar
