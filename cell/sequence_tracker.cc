// SequenceTracker: keeps the markers in timelines, and counts a put once.
#include "cell/sequence_tracker.h"

#include <algorithm>

#include "base/assert.h"

namespace cellar {
namespace {

// Empties a vector, and gives up the memory of a very large one.
template <class T>
void empty(std::vector<T>& values, size_t kept) {
  if (values.capacity() <= kept) return values.clear();
  values = {};
}

}  // namespace

void SequenceTracker::forget_family() {
  family_.clear();
  empty(family_versions_, kPlacesKept);
  family_marked_ = false;
  CELLAR_DCHECK(family_.is_empty() && family_versions_.empty());
}

void SequenceTracker::forget_column() {
  column_.clear();
  empty(versions_, kPlacesKept);
  empty(alive_, kPlacesKept);
  column_marked_ = false;
  any_death_ = false;
  CELLAR_DCHECK(column_.is_empty() && versions_.empty() && alive_.empty());
}

// Adds a place in the order of a store. Markers come in this order, so it is most often the last.
void SequenceTracker::add_place(Places& places, const Place& place) {
  auto at = places.end();
  while (at != places.begin() && place.is_before(at[-1])) --at;
  CELLAR_DCHECK(at == places.end() || place.is_before(*at));
  places.insert(at, place);
}

void SequenceTracker::add(const CellView& marker) {
  CELLAR_ASSERT(is_delete(marker.type()));
  const bool of_family = covers_family(marker.type());
  (of_family ? family_marked_ : column_marked_) = true;
  // No timestamp is older than the oldest, so a marker there hides its own timestamp only.
  const bool is_exact = marker.type() == CellType::kDelete ||
                        marker.type() == CellType::kDeleteFamilyVersion ||
                        marker.timestamp == kOldestTimestamp;
  if (!is_exact) return (of_family ? family_ : column_).add_marker(marker.sequence, marker.timestamp);
  const Place place{marker.timestamp, marker.sequence};
  if (of_family) return add_place(family_versions_, place);
  // The puts of newer timestamps have been counted.
  if (!versions_.empty() && versions_.back().timestamp != place.timestamp) versions_.clear();
  add_place(versions_, place);
}

// Returns the sequence of the first exact marker that hides the put. It is the last place before the put.
uint64_t SequenceTracker::exact_death(const Places& places, const Place& put) const {
  CELLAR_DCHECK(!places.empty());
  const auto after = std::ranges::partition_point(places, [&](const Place& place) {
    ++steps_;
    return place.is_before(put);
  });
  if (after == places.begin() || after[-1].timestamp != put.timestamp) return kNever;
  CELLAR_DCHECK(after[-1].sequence > put.sequence);
  return after[-1].sequence;
}

// Returns the sequence of the first marker that hides the put, or kNever.
uint64_t SequenceTracker::death_of(const CellView& cell) const {
  const Place place{cell.timestamp, cell.sequence};
  const int64_t timestamp = std::max(cell.timestamp, kOldestTimestamp + 1);  // see add()
  uint64_t death = kNever;
  if (family_marked_) {
    death = family_.first_marker_after(cell.sequence, timestamp);
    if (!family_versions_.empty()) death = std::min(death, exact_death(family_versions_, place));
  }
  if (column_marked_) {
    death = std::min(death, column_.first_marker_after(cell.sequence, timestamp));
    if (!versions_.empty()) death = std::min(death, exact_death(versions_, place));
  }
  CELLAR_DCHECK(death > cell.sequence);
  return death;
}

// Counts a put that is not over the limit, in a column of which a counted put has died.
void SequenceTracker::count_death(uint64_t birth, uint64_t death, int32_t max_versions) {
  CELLAR_DCHECK(birth >= limit_met_ && counted_ <= max_versions);
  if (!any_death_)
    for (const uint64_t before : alive_) column_.add_life(before, kNever);
  any_death_ = true;
  column_.add_life(birth, death);
  counted_ = std::min(counted_ + 1, max_versions);
  if (counted_ == max_versions) limit_met_ = std::max(limit_met_, column_.last_moment_of(max_versions));
}

SequenceTracker::Fate SequenceTracker::put(const CellView& cell, uint32_t max_versions) {
  CELLAR_ASSERT(!is_delete(cell.type()) && max_versions > 0);
  const bool overwritten = any_put_ && last_timestamp_ == cell.timestamp;
  uint64_t death = family_marked_ || column_marked_ ? death_of(cell) : kNever;
  if (overwritten) death = std::min(death, last_sequence_);
  any_put_ = true;
  last_timestamp_ = cell.timestamp;
  last_sequence_ = cell.sequence;
  ++steps_;
  const bool over_limit = cell.sequence < limit_met_;
  if (!over_limit && max_versions <= INT32_MAX) {
    const auto limit = static_cast<int32_t>(max_versions);
    // As long as no counted put has died, there is one moment: now.
    if (any_death_ || death != kNever) {
      count_death(cell.sequence, death, limit);
    } else if (++counted_ == limit) {
      limit_met_ = kNever;
    } else {
      alive_.push_back(cell.sequence);
    }
  }
  if (overwritten) return Fate::kOverwritten;
  if (death != kNever) return Fate::kHidden;
  return over_limit ? Fate::kOverLimit : Fate::kVisible;
}

}  // namespace cellar
