// Search keys for the start and end of a row or column. Each sorts before (or after) every stored cell
// that it covers.
#pragma once

#include <string_view>

#include "cell/cell_codec.h"

namespace cellar {

// Sets a key that sorts before every cell of `row` and after every cell of smaller rows.
inline void first_of_row(OwnedCell& key, std::string_view row) {
  key.assign_search(row, {}, {}, kLatestTimestamp, CellType::kMaximum, kLatestSequence);
}
// Sets a key that sorts after every cell of `row`.
inline void last_of_row(OwnedCell& key, std::string_view row) {
  key.assign_search(row, {}, {}, kOldestTimestamp, CellType::kMinimum, 0);
}
// Sets a key that sorts before every cell of the column.
inline void first_of_column(OwnedCell& key, std::string_view row, std::string_view family,
                            std::string_view qualifier) {
  key.assign_search(row, family, qualifier, kLatestTimestamp, CellType::kMaximum, kLatestSequence);
}
// Sets a key that sorts after every cell of the column. For the empty column of an empty family the key
// sorts after the whole row, so callers step there.
inline void last_of_column(OwnedCell& key, std::string_view row, std::string_view family,
                           std::string_view qualifier) {
  key.assign_search(row, family, qualifier, kOldestTimestamp, CellType::kMinimum, 0);
}

}  // namespace cellar
