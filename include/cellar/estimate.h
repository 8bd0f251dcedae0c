// RangeEstimate and RangeSplits: how much of a table lies between two rows, and where to cut it, without
// reading it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// EstimatedFigure: the true figure lies between low and high, both included. `estimate` is the likeliest.
struct EstimatedFigure {
  uint64_t low = 0;
  uint64_t estimate = 0;
  uint64_t high = 0;
};

// RangeEstimate: what is stored in a range of rows: all versions, delete markers, and the cells they hide.
struct RangeEstimate {
  // Bytes of blocks on disk, compressed, and of cells in memory. Low and high differ by the blocks at the two
  // ends of the range: two for each file.
  EstimatedFigure bytes;
  // Cells in memory are counted. A file that the engine wrote records how many cells and rows lie before each
  // of its 64 to 128 parts. So low and high differ by one or two such parts at each end of the range. A file
  // of another program records only its total. If the range covers a part of such a file, low is nearly 0 and
  // high the total. The estimate then assumes that the cells lie evenly in the file's bytes.
  EstimatedFigure cells;
  // A row may lie in several files, unless they are of one sorted run. Low assumes that files share rows as
  // far as they can, high that no two files share one. A file of another program with a Bloom filter of rows
  // tells how many rows it has. In the remaining files some blocks are read, and high is one row per cell.
  EstimatedFigure rows;
  uint64_t files = 0;  // files that overlap the range
};

// RangeSplits: rows that cut a range into parts of nearly the same size.
struct RangeSplits {
  std::vector<std::string> rows;  // the first row of each part after the first one; fewer if there is little
  uint64_t bytes = 0;             // of the whole range, as estimated
  uint64_t largest_part = 0;      // bytes, as estimated
  uint64_t error = 0;             // bytes by which the size of a part may differ from the estimate
};

}  // namespace cellar
