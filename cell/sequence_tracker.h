// SequenceTracker: deletes and versions in the order of writing (HBase's NEW_VERSION_BEHAVIOR).
//
// A marker hides only puts written before it. A put is over the version limit if at any moment since it was
// written there were already as many newer ones of its column, deleted since or not; it then never comes
// back. Moments that matter lie just before a marker was written, and now: between markers the number of
// newer puts only grows. So one count per marker is enough. A put that was overwritten (same timestamp,
// written later) counted until then, and the later one counts from then on.
#pragma once

#include <cstdint>
#include <vector>

#include "cellar/cell.h"

namespace cellar {

// Cells must be fed in the order of a store, within one read point. One thread at a time.
class SequenceTracker {
 public:
  void enter_row();
  void enter_column();
  void add(const CellView& marker);

  enum class Fate : uint8_t { kVisible, kHidden, kOverwritten, kOverLimit };
  // What becomes of a put; counts it. Of puts with one timestamp the one written last is met first.
  Fate put(const CellView& cell, uint32_t max_versions);

 private:
  struct Marker {
    CellType type;
    int64_t timestamp;
    uint64_t sequence;
  };
  struct Counted {
    uint64_t sequence;
    uint64_t death;  // sequence of the first marker or put that hides it, or never
  };
  struct Moment {
    uint64_t before;  // just before this sequence was written
    uint64_t alive;   // counted puts of the column alive then
  };
  static constexpr uint64_t kNever = UINT64_MAX;
  uint64_t death_of(const CellView& cell) const;
  void add_moment(uint64_t before);

  std::vector<Marker> family_markers_;
  std::vector<Marker> column_markers_;
  std::vector<Counted> counted_;
  std::vector<Moment> moments_;
  bool any_put_ = false;        // of this column
  int64_t last_timestamp_ = 0;  // of its last put
  uint64_t last_sequence_ = 0;
};

}  // namespace cellar
