// WalCheck: how far the log of a store can be read, and what a recovery would take up or lose.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/manifest/manifest_state.h"
#include "tools/repair/log_look.h"
#include "tools/repair/log_place.h"

namespace cellar {

struct WalCheck {
  // A recovery does not read a segment that is older than the start of the log. It is kept for feeds, or
  // about to be removed.
  struct Segment {
    SegmentLook look = {};
    bool is_read = true;
  };
  std::vector<Segment> segments = {};
  Status damage = {};        // why the store does not open; ok: its log is sound
  bool clean = false;        // closed properly
  uint64_t torn_bytes = 0;   // of an end that was never acknowledged: a recovery drops them
  uint64_t records = 0;      // that a recovery reads
  uint64_t last_number = 0;  // of the last one; 0: none
  uint64_t last_sequence = 0;
  uint64_t recovered_records = 0;  // of the records those with cells that are in no store file yet
  uint64_t recovered_cells = 0;
  RecordRange lost = {};                    // records after the damage, as far as their headers are sound
  uint64_t unreadable = 0;                  // of the lost records those whose cells cannot be read
  std::vector<std::string> rows_lost = {};  // "orders/d: 3 cells, rows a to b" of the readable ones
};

// Checks the log of the store in `root`. Another process may write to it: damage is believed when two looks
// agree. Writes nothing. Returns kAborted if interrupted.
Result<WalCheck> check_wal(Directory& root);

// RowSpans: which rows of which families the cells of some records belong to.
class RowSpans {
 public:
  // Adds the cells of a record. Ignores a payload that is not well formed.
  void add(const SeenRecord& record);
  std::vector<std::string> texts(const FamilyNames& names) const;
  bool empty() const { return spans_.empty(); }

 private:
  struct Span {
    uint64_t cells = 0;
    std::string first;
    std::string last;
  };
  std::map<uint32_t, Span> spans_;  // by family
};

}  // namespace cellar
