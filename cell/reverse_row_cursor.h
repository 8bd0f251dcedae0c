// ReverseRowCursor: rows backward, cells within a row forward, as HBase's reversed scans deliver them.
#pragma once

#include <memory>
#include <vector>

#include "cell/cursor.h"
#include "cell/merging_cursor.h"

namespace cellar {

// Over a forward cursor. seek(target) finds the first cell of the greatest row at or before
// the target's row; next() goes on inside the row, then to the first cell of the row before. skip_to(target):
// a target inside the current row goes forward in it; last_of_row of the current row goes to the row before.
// seek_before is not supported (aborts).
std::unique_ptr<CellCursor> make_reverse_row_cursor(std::unique_ptr<CellCursor> forward);
// Over the merge of forward cursors. Each of them goes backward by itself, so that a step asks only those
// that hold the row.
std::unique_ptr<CellCursor> make_reverse_row_cursor(std::vector<MergeSource> forward);

}  // namespace cellar
