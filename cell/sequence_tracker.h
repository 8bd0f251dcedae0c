// SequenceTracker: deletes and versions in the order of writing (HBase's NEW_VERSION_BEHAVIOR).
//
// A marker hides only puts written before it. A put is over the version limit if, at any moment since it
// was written, its column had as many newer puts as the limit. It does not matter whether those puts were
// deleted since. Such a put never becomes visible again. The moments that matter are just before each
// marker was written, and now: between markers the number of newer puts only grows. So one count per
// marker is enough. An overwritten put (same timestamp, written earlier) counts until it was overwritten;
// the later put counts from then on.
#pragma once

#include <cstdint>
#include <vector>

#include "cellar/cell.h"

namespace cellar {

// Cells must be added in the order of a store, within one read point. One thread at a time.
class SequenceTracker {
 public:
  void enter_row();
  void enter_column();
  void add(const CellView& marker);

  enum class Fate : uint8_t { kVisible, kHidden, kOverwritten, kOverLimit };
  // Counts a put and returns its fate. Among puts with one timestamp, the one written last must be passed
  // first.
  Fate put(const CellView& cell, uint32_t max_versions);

 private:
  struct Marker {
    CellType type;
    int64_t timestamp;
    uint64_t sequence;
  };
  struct Counted {
    uint64_t sequence;
    uint64_t death;  // sequence of the first marker or put that hides the put, or kNever
  };
  struct Moment {
    uint64_t before;  // the moment is just before this sequence was written
    uint64_t alive;   // counted puts of the column that were alive then
  };
  static constexpr uint64_t kNever = UINT64_MAX;
  uint64_t death_of(const CellView& cell) const;
  void add_moment(uint64_t before);

  std::vector<Marker> family_markers_;
  std::vector<Marker> column_markers_;
  std::vector<Counted> counted_;
  std::vector<Moment> moments_;
  bool any_put_ = false;        // True if put() was called for this column
  int64_t last_timestamp_ = 0;  // timestamp of the column's last put
  uint64_t last_sequence_ = 0;
};

}  // namespace cellar
