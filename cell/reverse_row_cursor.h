// ReverseRowCursor: rows backward, cells within a row forward, as in HBase's reversed scans.
#pragma once

#include <memory>
#include <vector>

#include "cell/cursor.h"
#include "cell/merging_cursor.h"

namespace cellar {

// Wraps a forward cursor. seek(target) finds the first cell of the greatest row at or before the target's
// row. next() continues inside the row, then goes to the first cell of the row before. skip_to(target)
// goes forward if the target is inside the current row; for last_of_row of the current row it goes to the
// row before. seek_before is not supported (aborts).
std::unique_ptr<CellCursor> make_reverse_row_cursor(std::unique_ptr<CellCursor> forward);
// Wraps the merge of forward cursors. Each of them goes backward by itself, so that a step asks only the
// cursors that have the row.
std::unique_ptr<CellCursor> make_reverse_row_cursor(std::vector<MergeSource> forward);

}  // namespace cellar
