// ReadStats: the cost of reads (Query::stats).
#pragma once

#include <cstdint>
#include <string>

#include "cellar/visibility.h"

namespace CELLAR_PUBLIC cellar {

// ReadStats: a read adds to it. Use a new one to see a single read. One thread at a time.
struct ReadStats {
  uint64_t memtables = 0;            // memtables read
  uint64_t files_considered = 0;     // store files of the families read
  uint64_t files_skipped_range = 0;  // of them: their key range does not contain the rows
  uint64_t files_skipped_time = 0;   // their time range does not overlap
  uint64_t files_skipped_ttl = 0;    // all their cells are expired
  uint64_t files_skipped_bloom = 0;  // their Bloom filter excludes the row
  uint64_t bloom_checks = 0;
  uint64_t blocks_from_cache = 0;  // data, index and Bloom blocks
  uint64_t rows_from_cache = 0;    // rows of files that needed no block (EngineOptions::cache_rows)
  uint64_t blocks_from_disk = 0;
  uint64_t bytes_from_disk = 0;  // as stored
  uint64_t data_blocks = 0;      // blocks of cells among those from the cache and from disk
  uint64_t cells_examined = 0;
  uint64_t cells_returned = 0;
  uint64_t rows_returned = 0;
  uint64_t rows_scanned = 0;  // rows examined (HBase's countOfRowsScanned)
  uint64_t rows_filtered =
      0;  // of them: refused by the filter, or without visible cells (countOfRowsFiltered)

  ReadStats& operator+=(const ReadStats& other);
};

// Returns "files 7 (-2 range …), memtables 1, blocks 1 disk (8100 B) / 2 cache, 1 with data, 0 cached rows,
// cells 97 examined / 1 returned, …".
std::string to_text(const ReadStats& stats);

}  // namespace cellar
