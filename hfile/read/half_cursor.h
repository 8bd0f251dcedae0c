// HalfCursor: the rows of a cursor from one row up to another: half of a file, as HBase leaves it after a
// split.
#pragma once

#include <memory>
#include <string>

#include "cell/cursor.h"

namespace cellar {

// Rows from `start` (inclusive) to `stop` (not included); an empty bound is open.
std::unique_ptr<RunCursor> make_half_cursor(std::unique_ptr<RunCursor> whole, const std::string& start,
                                            const std::string& stop);

}  // namespace cellar
