// Tiles of several zooms in one order: digits, padded with "~".
#pragma once

#include <string>
#include <string_view>

#include "examples/application.h"

namespace example {

constexpr int64_t kBegin = 1700000400000;  // the first hour of the weather, in milliseconds since the epoch

inline std::string padded(std::string tile, size_t digits) { return tile.append(digits - tile.size(), '~'); }
// Returns whether the record of this row speaks for the tile.
inline bool contains(std::string_view row, std::string_view tile) {
  return tile.starts_with(row.substr(0, row.find('~')));
}

}  // namespace example
