// diff_cells: two sorted runs of cells side by side, each walked once.
#pragma once

#include <cstdint>
#include <functional>

#include "cell/cursor.h"

namespace cellar {

struct CellDiffOptions {
  bool values = true;  // what of two cells with the same key must be equal
  bool tags = true;
  bool mvcc = true;
  bool meta_order = false;  // both runs are in hbase:meta's order
};

// A cell of one run that the other lacks (its pointer is null), or two cells of one key and how they differ.
struct CellDifference {
  const CellView* a = nullptr;
  const CellView* b = nullptr;
  bool value = false;
  bool tags = false;
  bool mvcc = false;
};

struct CellDiffTotals {
  uint64_t cells_a = 0;
  uint64_t cells_b = 0;
  uint64_t same = 0;
  uint64_t only_a = 0;
  uint64_t only_b = 0;
  uint64_t changed = 0;

  uint64_t differences() const { return only_a + only_b + changed; }
};

// Calls `each` for every difference in the order of keys, and `go_on` for every step: false ends the walk.
// Where a key occurs more than once its cells are paired in the order in which they stand. The first failure
// of either cursor ends the walk, too; `totals` holds what was compared until then.
Status diff_cells(CellCursor& a, CellCursor& b, const CellDiffOptions& options,
                  const std::function<void(const CellDifference&)>& each, const std::function<bool()>& go_on,
                  CellDiffTotals& totals);

}  // namespace cellar
