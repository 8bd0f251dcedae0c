// SimulatedWrites: the history that a simulation runs: which rows are written, in which order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cellar/status.h"

namespace cellar {

struct SimulatedWrite {
  uint32_t number = 0;  // of the row in the order in which rows are first written, from 0
  uint32_t row = 0;     // rows are ordered by it
  bool marker = false;  // the row is deleted
  uint32_t reads = 0;   // gets that follow before the next write, see next_read()
};

// One thread.
class SimulatedWrites {
 public:
  virtual ~SimulatedWrites() = default;
  virtual SimulatedWrite next() = 0;
  // Returns the row of a get, with its number. A pattern chooses it as rows are overwritten; a recorded
  // history gives the reads that follow the last write. It changes no write.
  virtual SimulatedWrite next_read() = 0;
};

// SimulatedPattern: the rows that are written. They are counted in simulated cells.
struct SimulatedPattern {
  std::string name = "overwrite";
  uint64_t rows = 1;  // that exist at the end of the load
  // A simulated row stands for so many rows, which are about equally frequent.
  uint64_t rows_per_row = 1;
  double skew = 0.99;  // exponent of zipf
  double updates = 0;  // insert and append: part of the writes after the load that overwrite a row at random
  double deletes = 0;  // part of the writes after the load that delete a row
  uint64_t seed = 1;
};

// The names of patterns:
// - overwrite: rows in random order, each as frequent as any other
// - zipf: the row at rank r with a frequency of r to the power of -skew; ranks are scattered over the rows
// - insert: new rows in random order
// - append: new rows in ascending order
std::vector<std::string> simulated_patterns();

// Returns the writes of a pattern. At first it writes `rows` rows once, in random order. Errors:
// kInvalidArgument for an unknown name, with the nearest one as hint. Also for numbers out of range.
Result<std::unique_ptr<SimulatedWrites>> make_simulated_writes(const SimulatedPattern& pattern);

}  // namespace cellar
