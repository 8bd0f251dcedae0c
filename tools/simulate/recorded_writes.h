// RecordedHistory: the writes and gets of a trace of operations, as a history for simulations of compactions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cellar/status.h"
#include "tools/simulate/simulated_writes.h"

namespace cellar {

class FileSystem;

// RecordedHistory: what a trace says of one table, in the order of the start times. A row that an operation
// writes is one write. A delete of a whole row or family is a marker; other deletes count as puts. Operations
// that failed are left out, and so are scans. A value.
struct RecordedHistory {
  struct Event {
    uint32_t number = 0;  // of the row, in the order in which rows are first met
    bool read = false;
    bool marker = false;
  };
  std::vector<Event> events = {};
  std::vector<uint32_t> places = {};  // of each row among the sorted rows, by its number
  uint64_t writes = 0;
  uint64_t bytes = 0;   // of the writes: rows, families, qualifiers, values, timestamps
  uint32_t sample = 1;  // one row in so many was recorded

  // Returns the mean size of a write; at least 1.
  uint64_t write_bytes() const { return writes == 0 ? 1 : std::max<uint64_t>(1, bytes / writes); }
};

// Reads a trace. `table` is the only table of interest; empty: the trace must have a single one. Errors: as
// of TraceReader; kInvalidArgument if the trace has several tables, or no writes to this one.
Result<RecordedHistory> read_recorded_history(FileSystem& files, const std::string& path,
                                              const std::string& table);

// Returns the writes of the history, again and again. The history must outlive it, and have writes.
std::unique_ptr<SimulatedWrites> make_recorded_writes(const RecordedHistory& history);

}  // namespace cellar
