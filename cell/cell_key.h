// Search keys: first of row, last of row, first and last of column. Each sorts before (or after) every stored
// cell it names.
#pragma once

#include <string_view>

#include "cell/cell_codec.h"

namespace cellar {

// Before every cell of `row` and after every cell of smaller rows.
inline void first_of_row(OwnedCell& key, std::string_view row) {
  key.assign(row, {}, {}, kLatestTimestamp, CellType::kMaximum, kLatestSequence);
}
// After every cell of `row`.
inline void last_of_row(OwnedCell& key, std::string_view row) {
  key.assign(row, {}, {}, kOldestTimestamp, CellType::kMinimum, 0);
}
// Before every cell of the column.
inline void first_of_column(OwnedCell& key, std::string_view row, std::string_view family,
                            std::string_view qualifier) {
  key.assign(row, family, qualifier, kLatestTimestamp, CellType::kMaximum, kLatestSequence);
}
// After every cell of the column. The empty column of an empty family is the last of its row instead: callers
// step there.
inline void last_of_column(OwnedCell& key, std::string_view row, std::string_view family,
                           std::string_view qualifier) {
  key.assign(row, family, qualifier, kOldestTimestamp, CellType::kMinimum, 0);
}

}  // namespace cellar
