// Cells as text: one line each, for test data, failures and messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cell/cell_codec.h"
#include "cellar/cell.h"

namespace cellar::testing {

using Cells = std::vector<Cell>;

// "row/family:qualifier/timestamp/type#sequence=value +ttl=500"
//
// The type is put, delete, delete_family_version, delete_column or delete_family (minimum and maximum in
// search keys). It may be left out with its slash (put). So may #sequence (0), =value (empty) and tags. A
// timestamp may be "latest" or "oldest". Tags: +ttl=<milliseconds> or +<type>=<bytes>. Bytes that would end a
// part are written \xHH. Any other text is a failure of the running test, and the part that was read is
// returned.
Cell parse_cell(std::string_view text);
// One cell a line; empty lines are passed over.
Cells parse_cells(std::string_view lines);

std::string print_cell(const CellView& cell);
std::string print_cell(const Cell& cell);
// One line each, with '\n'; "none\n" for no cells.
std::string print_cells(const Cells& cells);

// A cell's bytes in one piece, and its view.
OwnedCell owned(const Cell& cell);
// In the order of a store; equal cells stay in their order.
Cells sorted(Cells cells);
// The total order without views: negative, zero, positive.
int compare(const Cell& a, const Cell& b);
// The tag of a cell that lives so long.
std::string ttl_tag(int64_t ttl_ms);

}  // namespace cellar::testing
