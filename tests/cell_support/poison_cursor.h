// PoisonCursor: hands out copies and scribbles over those older than two moves, so that a broken promise
// fails at once.
#pragma once

#include <memory>

#include "cell/cursor.h"

namespace cellar::testing {

// Wraps any cursor; call seek_before only if it is the cursor of a run. Keeps exactly the two-step rule of
// CellCursor and not a move more. A caller that looks at a cell after the second move past it reads 0xdb.
// Pinned copies stay whole, their views do not.
std::unique_ptr<RunCursor> poison(std::unique_ptr<CellCursor> cursor);

}  // namespace cellar::testing
