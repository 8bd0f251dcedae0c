// VectorCursor: a CellCursor over cells in a vector, and cursors that fail on purpose.
#pragma once

#include <memory>

#include "cell/cursor.h"
#include "tests/cell_support/cell_text.h"

namespace cellar::testing {

// Over cells already in order. They are copied and live as long as the cursor or a pin of it.
std::unique_ptr<RunCursor> vector_cursor(const Cells& cells);

// Shows cells as vector_cursor does for `moves` moves; every later one fails.
std::unique_ptr<RunCursor> failing_after(const Cells& cells, int moves, Status status);
// Fails at once.
std::unique_ptr<RunCursor> failing(Status status);

// All cells from the first on, by seek and next.
Cells drain(CellCursor& cursor);
// All cells from `from` on.
Cells drain_from(CellCursor& cursor, const CellView& from);

}  // namespace cellar::testing
