// ReverseRowCursor: rows backward, cells within a row forward, as in HBase's reversed scans.
#pragma once

#include <memory>

#include "cell/cursor.h"

namespace cellar {

// Wraps the cursor of a run. Its seek(target) finds the first cell of the greatest row at or before the
// target's row. Its next() continues inside the row, then goes to the first cell of the row before. Its
// skip_to(target) goes forward if the target is inside the current row; for last_of_row of the current row it
// goes to the row before. To merge runs backward, wrap each of them and merge the wrappers with
// make_backward_merging_cursor(). A step then moves only the cursors that have the row.
std::unique_ptr<CellCursor> make_reverse_row_cursor(std::unique_ptr<RunCursor> forward);

}  // namespace cellar
