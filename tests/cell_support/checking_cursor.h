// CheckingCursor: passes cells through and verifies that they come in order.
#pragma once

#include <memory>

#include "cell/cursor.h"

namespace cellar::testing {

// Wraps any cursor. A move that yields a cell out of order returns null, and status() becomes kCorruption
// with both keys. The move next or skip_to must not yield a cell before the previous one. The move seek or
// skip_to must not yield one before its target. The move seek_before, for the cursor of a run only, must
// yield one before its target. Each move costs one comparison of keys.
std::unique_ptr<RunCursor> make_checking_cursor(std::unique_ptr<CellCursor> checked);

}  // namespace cellar::testing
