// SequenceTracker: deletes and versions in the order of writing (HBase's NEW_VERSION_BEHAVIOR).
//
// A marker hides only puts written before it. A put is over the version limit if, at any moment since it
// was written, its column had as many newer puts as the limit. It does not matter whether those puts were
// deleted since. Such a put never becomes visible again. The moments that matter are just before a write that
// hides a counted put, and now: between them the number of newer puts only grows. An overwritten put (same
// timestamp, written earlier) counts until it was overwritten; the later put counts from then on.
//
// If a put is over the limit, so are the puts of the column that come later and were written earlier. So one
// moment tells the limit, the last one at which a put newer than the next ones met the limit. Puts written
// before it are over the limit, and decide nothing.
//
// A put costs steps that grow with the logarithm of the number of markers, whatever their order (timeline.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/recycled.h"
#include "cell/timeline.h"
#include "cellar/cell.h"

namespace cellar {

// SequenceTracker: the markers and counted puts of one row. Cells must be added in the order of a store,
// within one read point. A marker of the row's family, or of the current column, takes at most 128 bytes. A
// counted put of the column takes at most 256. At most 2 MiB stay for the next row. One thread at a time.
class SequenceTracker : public Recycled<SequenceTracker> {
 public:
  void enter_row() {
    if (family_marked_) forget_family();
    enter_column();
  }
  void enter_column() {
    if (column_marked_ || any_death_ || alive_.size() > kPlacesKept) forget_column();
    alive_.clear();
    counted_ = 0;
    any_put_ = false;
    limit_met_ = 0;
  }
  void add(const CellView& marker);

  enum class Fate : uint8_t { kVisible, kHidden, kOverwritten, kOverLimit };
  // Counts a put and returns its fate. Among puts with one timestamp, the one written last must be passed
  // first. The limit is the same for all puts of a column. A larger limit than 2^31 - 1 does not limit.
  Fate put(const CellView& cell, uint32_t max_versions);

  // Returns the number of steps so far. It tells how the work grows.
  uint64_t steps() const { return family_.steps() + column_.steps() + steps_; }

 private:
  static constexpr uint64_t kNever = Timeline::kNever;
  static constexpr size_t kPlacesKept = 16384;

  // Place: where an exact marker stands. It hides only puts of its timestamp.
  struct Place {
    int64_t timestamp;
    uint64_t sequence;
    // Returns whether this place comes before `other` in the order of a store.
    bool is_before(const Place& other) const {
      return timestamp != other.timestamp ? timestamp > other.timestamp : sequence > other.sequence;
    }
  };
  using Places = std::vector<Place>;
  void forget_family();
  void forget_column();
  static void add_place(Places& places, const Place& place);
  uint64_t exact_death(const Places& places, const Place& put) const;
  uint64_t death_of(const CellView& cell) const;
  void count_death(uint64_t birth, uint64_t death, int32_t max_versions);

  Timeline family_;         // markers of the row that hide puts at their timestamps and before
  Places family_versions_;  // exact markers of the row, in the order of a store
  Timeline column_;         // such markers of the column; also the lives of its counted puts if one has died
  Places versions_;         // exact markers of the column at its last timestamp that has one
  std::vector<uint64_t> alive_;  // births of the counted puts as long as all are alive
  int32_t counted_ = 0;          // counted puts of the column, as far as they matter
  bool family_marked_ = false;   // True if the row has markers of the family
  bool column_marked_ = false;   // True if the column has markers of its own
  bool any_death_ = false;       // True if a counted put has died
  bool any_put_ = false;         // True if put() was called for this column
  uint64_t limit_met_ = 0;       // the last moment at which the counted puts met the limit; 0: they never did
  int64_t last_timestamp_ = 0;   // timestamp of the column's last put
  uint64_t last_sequence_ = 0;
  mutable uint64_t steps_ = 0;
};

}  // namespace cellar
