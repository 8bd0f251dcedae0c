// CheckingCursor: passes cells through and verifies that they come in order.
#pragma once

#include <memory>

#include "cell/cursor.h"

namespace cellar {

// Over any cursor. A move that shows a cell out of order (next or skip_to: before the last one; seek or
// skip_to: before its target; seek_before: not before its target) returns null, and status() is kCorruption
// naming both keys. Costs one comparison of keys a move.
std::unique_ptr<CellCursor> make_checking_cursor(std::unique_ptr<CellCursor> checked);

}  // namespace cellar
