// CellFormat: which optional parts the cells of a file have.
#pragma once

namespace cellar {

// The parts of each cell of a file in addition to key and value.
struct CellFormat {
  bool tags = false;
  bool mvcc = false;
  bool mvcc_all_zero = false;    // MAX_MEMSTORE_TS_KEY ≤ 0
  bool tags_compressed = false;  // dictionary-coded tags (delta encodings only)
};

}  // namespace cellar
