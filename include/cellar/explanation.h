// ReadExplanation: where a read looked, source by source, and by which rule it passed over cells.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "cellar/read_stats.h"

namespace CELLAR_PUBLIC cellar {

// Filled by adding, while the read goes on; complete when it is over (a scanner: destroyed). Asking for it
// costs a few nanoseconds for each cell that is looked at. One thread at a time.
struct ReadExplanation {
  // Why a source was read or not, in the order in which it is asked.
  enum class Outcome : uint8_t {
    kRead,
    kNoSuchRow,     // memory does not have the row
    kOutsideKeys,   // the file's first and last row say so
    kOutsideTimes,  // its range of timestamps does not meet the one asked for
    kExpired,       // its newest cell is older than the family's time to live
    kBloomFilter,   // a filter of it says no
  };
  // A memtable or a file of a family that the read is about.
  struct Source {
    std::string family;
    std::string name;  // of the file; empty: in memory
    Outcome outcome = Outcome::kRead;
    uint64_t cells_met = 0;    // that it gave, sought or stepped to
    uint64_t cells_taken = 0;  // of them in the answer, before a filter drops whole rows
    ReadStats cost;            // blocks, bytes, filters asked
  };
  // Cells that were looked at and are not in the answer. Cells behind a jump are not looked at.
  struct PassedOver {
    uint64_t newer = 0;            // than the snapshot, or than the read's beginning
    uint64_t other_column = 0;     // not among those asked for
    uint64_t expired = 0;          // by the family's time to live
    uint64_t cell_expired = 0;     // by their own
    uint64_t markers = 0;          // of deletes
    uint64_t hidden = 0;           // by such markers
    uint64_t outside_times = 0;    // of the range asked for
    uint64_t overwritten = 0;      // by a later write of the same timestamp
    uint64_t over_versions = 0;    // beyond as many versions as wanted, or kept
    uint64_t filtered = 0;         // refused by the filter
    uint64_t rest_of_decided = 0;  // on the way: of a column or row that was decided, or of the row behind

    PassedOver& operator+=(const PassedOver& other);
  };

  std::deque<Source> sources;  // by family, youngest first
  PassedOver passed_over;
};

// "outside its keys", …
std::string_view outcome_name(ReadExplanation::Outcome outcome);
// "3 delete markers, 12 hidden by markers", or "nothing".
std::string to_text(const ReadExplanation::PassedOver& passed_over);
// Some lines of text: each source, then the cells passed over.
std::string to_text(const ReadExplanation& explanation);

}  // namespace cellar
