// CellCounts: how many cells and rows a file has up to some of its blocks, so that ranges can be counted
// without reading them.
//
// They lie in the file info, under a key of Cellar's own that HBase ignores. A byte 1 comes first, then three
// varints for each place, ascending. They are the distance from the place before, and the numbers of cells
// and rows in between. The last place is the end of the last data block.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

class HFileReader;
struct FileSpan;

struct CellCount {
  uint64_t end = 0;    // offset after a data block
  uint64_t cells = 0;  // in all blocks up to there
  uint64_t rows = 0;   // that begin in them
};

// Keeps between kPlacesMax / 2 and kPlacesMax of the blocks, evenly, however many come.
class CellCountsWriter {
 public:
  static constexpr size_t kPlacesMax = 128;

  // After each data block.
  void add(const CellCount& count);
  // Empty without blocks.
  std::string encode() const;

 private:
  std::vector<CellCount> counts_;  // each stride_-th
  uint64_t stride_ = 1;
  uint64_t blocks_ = 0;
  CellCount last_;
};

// Adds to the last one of `counts` what the encoded text says. False if it is no such text, or contradicts
// the end of the data or the number of cells.
bool parse_cell_counts(std::string_view text, uint64_t data_end, uint64_t cells_all,
                       std::vector<CellCount>& counts);

// The counts that the file records, from the beginning of its data on. A file without counts has only those
// at its end: the cells, and as many rows, with `rows_known` false. The span of the file says where its data
// is. kCorruption if the file contradicts itself.
struct CellCounts {
  std::vector<CellCount> counts;
  bool rows_known = false;
};
Result<CellCounts> read_cell_counts(const HFileReader& file, const FileSpan& span);

}  // namespace cellar
