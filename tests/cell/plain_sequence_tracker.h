// PlainSequenceTracker: the rules of sequence_tracker.h, spelled out over lists of all markers and puts.
//
// The reference of the tests. Each put is compared with each marker of its family and column, and is counted
// for each of their moments. Nothing is shared with cell/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cell/sequence_tracker.h"
#include "cellar/cell.h"

namespace cellar::testing {

class PlainSequenceTracker {
 public:
  using Fate = SequenceTracker::Fate;

  void enter_row() {
    family_markers_.clear();
    enter_column();
  }
  void enter_column() {
    column_markers_.clear();
    counted_.clear();
    puts_.clear();
  }
  void add(const CellView& marker) {
    (covers_family(marker.type()) ? family_markers_ : column_markers_)
        .push_back({marker.type(), marker.timestamp, marker.sequence});
  }
  Fate put(const CellView& cell, uint32_t max_versions) {
    const bool overwritten = !puts_.empty() && puts_.back().timestamp == cell.timestamp;
    uint64_t death = death_of(cell);
    if (overwritten) death = std::min(death, puts_.back().sequence);
    puts_.push_back({cell.timestamp, cell.sequence});
    const bool over_limit = is_over_limit(cell.sequence, max_versions);
    if (!over_limit) counted_.push_back({cell.sequence, death});
    if (overwritten) return Fate::kOverwritten;
    if (death != kNever) return Fate::kHidden;
    return over_limit ? Fate::kOverLimit : Fate::kVisible;
  }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;
  struct Marker {
    CellType type;
    int64_t timestamp;
    uint64_t sequence;
  };
  struct Written {
    int64_t timestamp;
    uint64_t sequence;
  };
  struct Counted {
    uint64_t birth;
    uint64_t death;
  };

  static bool hides(const Marker& marker, const CellView& put) {
    if (marker.sequence <= put.sequence) return false;
    const bool exact = marker.type == CellType::kDelete || marker.type == CellType::kDeleteFamilyVersion;
    return exact ? put.timestamp == marker.timestamp : put.timestamp <= marker.timestamp;
  }
  uint64_t death_of(const CellView& put) const {
    uint64_t death = kNever;
    for (const auto* markers : {&family_markers_, &column_markers_})
      for (const Marker& marker : *markers)
        if (hides(marker, put)) death = std::min(death, marker.sequence);
    return death;
  }
  uint64_t alive_before(uint64_t moment) const {
    return static_cast<uint64_t>(std::ranges::count_if(
        counted_, [&](const Counted& put) { return put.birth < moment && put.death >= moment; }));
  }
  // Looks at the moments before each marker, and at now.
  bool is_over_limit(uint64_t birth, uint64_t limit) const {
    const auto is_met = [&](const Marker& marker) {
      return marker.sequence > birth && alive_before(marker.sequence) >= limit;
    };
    return alive_before(kNever) >= limit || std::ranges::any_of(family_markers_, is_met) ||
           std::ranges::any_of(column_markers_, is_met);
  }

  std::vector<Marker> family_markers_;
  std::vector<Marker> column_markers_;
  std::vector<Written> puts_;
  std::vector<Counted> counted_;
};

}  // namespace cellar::testing
