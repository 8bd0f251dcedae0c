// Default implementation of CellCursor::skip_to.
#include "cell/cursor.h"

#include "cell/cell_order.h"

namespace cellar {

const CellView* CellCursor::skip_to(const CellView& target) {
  const CellView* cell = next();
  while (cell != nullptr && compare_cells(*cell, target) < 0) cell = next();
  return cell;
}

}  // namespace cellar
