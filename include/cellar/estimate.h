// Estimates: how much of a table lies between two rows, and where to cut it, without reading it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

struct EstimateRequest {
  std::string start = {};                  // first row; empty: the table's first
  std::string stop = {};                   // up to but not including this row; empty: to the end
  std::vector<std::string> families = {};  // none: all
};

// It certainly lies between low and high; `estimate` is the likeliest.
struct EstimatedFigure {
  uint64_t low = 0;
  uint64_t estimate = 0;
  uint64_t high = 0;
};

// Of what is stored: all versions, markers, and what they hide.
struct RangeEstimate {
  // Of blocks on disk, as compressed as they are, and of cells in memory. Low and high differ by the blocks
  // at the two ends of the range, two for each file.
  EstimatedFigure bytes;
  // In memory they are counted. Files of the engine's know how many cells and rows lie before each 64th to
  // 128th part of them: low and high differ by one or two such parts at each end of the range. Files of
  // others know their number alone: low and high of a range that holds part of one are nearly nothing and all
  // of it, and the estimate takes cells to lie evenly in its bytes.
  EstimatedFigure cells;
  // A row may lie in several files: low is right if they hold the same rows as far as they can, high if no
  // two hold one. Files of others with a Bloom filter of rows know how many they have; in the rest some
  // blocks are read for the estimate, and high is one row a cell.
  EstimatedFigure rows;
  uint64_t files = 0;  // that reach into the range
};

struct RangeSplits {
  std::vector<std::string>
      rows;            // where parts begin, but for the first: fewer where there is too little to cut
  uint64_t bytes = 0;  // of the whole range
  // Of the parts, as estimated, and how far that may be off: as much as may lie at both ends of a part.
  uint64_t largest_part = 0;
  uint64_t error = 0;
};

}  // namespace cellar
