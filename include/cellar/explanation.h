// ReadExplanation: where a read looked, source by source, and which rules made it skip cells
// (Query::explain).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "cellar/read_stats.h"

namespace CELLAR_PUBLIC cellar {

// ReadExplanation: a read adds to it. It is complete when the read ends: for a scan, when the scanner is
// destroyed. It costs a few nanoseconds for each examined cell. One thread at a time.
struct ReadExplanation {
  // Why a source was read or skipped, in the order of the checks.
  enum class Outcome : uint8_t {
    kRead,
    kNoSuchRow,     // the memtable does not have the row
    kOutsideKeys,   // the range of the file's rows does not overlap
    kOutsideTimes,  // the range of its timestamps does not overlap
    kExpired,       // its newest cell is older than the family's time to live
    kBloomFilter,   // its Bloom filter excludes the row or column
    kNotReached,    // the read ended before it came to the rows of the file
  };
  // A memtable or a file of a family that is read.
  struct Source {
    std::string family;
    std::string name;  // of the file; empty: a memtable
    Outcome outcome = Outcome::kRead;
    uint64_t cells_met = 0;    // examined cells of this source
    uint64_t cells_taken = 0;  // of them in the answer, before a filter drops whole rows
    ReadStats cost;            // blocks, bytes, filters asked
  };
  // Numbers of examined cells that are not in the answer. Cells that a seek skips are not examined.
  struct PassedOver {
    uint64_t newer = 0;            // written after the snapshot, or after the read began
    uint64_t other_column = 0;     // of a column that was not chosen
    uint64_t expired = 0;          // by the family's time to live
    uint64_t cell_expired = 0;     // by their own time to live
    uint64_t markers = 0;          // delete markers
    uint64_t hidden = 0;           // by delete markers
    uint64_t outside_times = 0;    // outside the time range of the read
    uint64_t overwritten = 0;      // by a later write of the same timestamp
    uint64_t over_versions = 0;    // more versions than wanted or kept
    uint64_t filtered = 0;         // refused by the filter
    uint64_t rest_of_decided = 0;  // the rest of a column or row that was already decided

    PassedOver& operator+=(const PassedOver& other);
  };

  std::deque<Source> sources;  // by family, newest first; files of one sorted run by their rows
  PassedOver passed_over;
};

// Returns "outside its keys", ….
std::string_view outcome_name(ReadExplanation::Outcome outcome);
// Returns "3 delete markers, 12 hidden by markers", or "nothing".
std::string to_text(const ReadExplanation::PassedOver& passed_over);
// Returns a few lines of text: each source, then the skipped cells.
std::string to_text(const ReadExplanation& explanation);

}  // namespace cellar
