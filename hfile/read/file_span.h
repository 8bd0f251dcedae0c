// FileSpan: how much of a file lies between two rows, from its block index, no data block read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/read_stats.h"
#include "cellar/status.h"

namespace cellar {

class HFileReader;

// Bytes of a file's data section: data blocks, and the blocks of index and filters that lie between them.
struct FileSpan {
  uint64_t inner_bytes = 0;  // of blocks that hold rows of the range alone
  uint64_t edge_bytes = 0;   // of those that may hold some
  uint64_t data_begin = 0;   // offset
  uint64_t data_bytes = 0;   // of all there are
  // Offsets. The range begins at or after outer_from and at or before inner_from, and ends likewise. In an
  // empty span all are equal.
  uint64_t outer_from = 0, inner_from = 0, inner_to = 0, outer_to = 0;
};

// Returns the span of the rows from `start` to before `end`; an empty bound is open. Reads blocks of the
// index, one path for each bound. For a part of a file (HFileReaderOptions::start_row), returns the span in
// the part. kCorruption, kIoError.
Result<FileSpan> file_span(const HFileReader& file, std::string_view start, std::string_view end,
                           ReadStats* stats);

// A row at which a piece of the file begins, and the bytes of the piece.
struct FileSample {
  std::string row;
  double bytes = 0;
};
// Returns the pieces of the file that begin in the range, ascending: blocks, or groups of blocks of similar
// size. Returns at least `wanted` of them if the index has so many.
Result<std::vector<FileSample>> file_samples(const HFileReader& file, std::string_view start,
                                             std::string_view end, size_t wanted, ReadStats* stats);

// Distinct rows in the whole file, as its Bloom filter of rows has counted them; false when it has none.
bool file_rows(const HFileReader& file, uint64_t& rows);

}  // namespace cellar
