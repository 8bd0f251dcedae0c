// Key shapes: streams of cells that stress a sorted structure in different ways.
#pragma once

#include <cstdio>
#include <string>

#include "base/coding.h"
#include "base/random.h"
#include "cell/cell_codec.h"

namespace cellar::testing {

enum class KeyShape {
  kRandomRows,    // 8 random bytes
  kUserRows,      // user000000012345
  kTinyAlphabet,  // short rows of four byte values, zeros included, many of them prefixes of others
  kLongCommon,    // rows that differ after 40 bytes, or only in their length
  kVersions,      // one column, timestamps, types and sequences at random
  kWideRows,      // three rows of random qualifiers
  kWideUser,      // rows of user ids, qualifiers q000…q099
  kAscending,     // rows in order
  kDescending,    // rows in reverse order
  kNewestFirst,   // versions of few columns, each newer than the last
  kStreams,       // a few rows, qualifiers in order in each
  kEqualCells,    // few cells, each many times
  kFamilies,      // families of different length
  kMixed,         // all of the above
};

// The last two are for tables that hold anything; a store has one family.
constexpr KeyShape kAllShapes[] = {KeyShape::kRandomRows,  KeyShape::kUserRows,  KeyShape::kTinyAlphabet,
                                   KeyShape::kLongCommon,  KeyShape::kVersions,  KeyShape::kWideRows,
                                   KeyShape::kWideUser,    KeyShape::kAscending, KeyShape::kDescending,
                                   KeyShape::kNewestFirst, KeyShape::kStreams,   KeyShape::kEqualCells,
                                   KeyShape::kFamilies,    KeyShape::kMixed};

inline std::string user_row(uint64_t id) {
  char text[32];
  std::snprintf(text, sizeof text, "user%012llu", static_cast<unsigned long long>(id));
  return text;
}

inline std::string alphabet_bytes(Random& random, size_t size_max) {
  constexpr char kBytes[] = {'\0', '\1', 'a', '\xff'};
  std::string bytes(random.below(size_max + 1), ' ');
  for (char& byte : bytes) byte = kBytes[random.below(4)];
  return bytes;
}

// The `i`-th cell of a shape, the same for the same arguments. Its sequence is `sequence`, its value tells
// `i`.
inline void make_cell(KeyShape shape, uint64_t seed, uint64_t i, uint64_t sequence, OwnedCell& cell) {
  Random random(seed * 1'000'003 + i);
  const std::string value = "v" + std::to_string(i);
  if (shape == KeyShape::kMixed) shape = kAllShapes[random.below(13)];
  std::string row = "row";
  std::string family = "f";
  std::string qualifier = "q";
  int64_t timestamp = 1'700'000'000'000 + static_cast<int64_t>(random.below(3));
  CellType type = CellType::kPut;
  switch (shape) {
    case KeyShape::kRandomRows:
      append_be64(row = "", random.next());
      break;
    case KeyShape::kUserRows:
      row = user_row(random.below(1'000'000));
      break;
    case KeyShape::kTinyAlphabet:
      row = "a" + alphabet_bytes(random, 5);
      qualifier = alphabet_bytes(random, 2);
      break;
    case KeyShape::kLongCommon:
      row = std::string(40, 'x') + alphabet_bytes(random, 12);
      break;
    case KeyShape::kVersions:
      timestamp = static_cast<int64_t>(random.one_in(50) ? random.next() >> 1 : random.below(200));
      type = random.one_in(4) ? CellType::kDeleteColumn : CellType::kPut;
      break;
    case KeyShape::kWideRows:
      row += static_cast<char>('a' + random.below(3));
      qualifier = "common" + std::to_string(random.below(2)) + alphabet_bytes(random, 11);
      break;
    case KeyShape::kWideUser:
      row = user_row(random.below(40));
      qualifier = "q" + std::to_string(100 + random.below(100));
      break;
    case KeyShape::kAscending:
      row = user_row(i);
      break;
    case KeyShape::kDescending:
      row = user_row(1'000'000 - i);
      break;
    case KeyShape::kNewestFirst:
      row = user_row(random.below(5));
      timestamp = static_cast<int64_t>(1'000'000 + i);
      break;
    case KeyShape::kStreams:
      row = user_row(random.below(9));
      qualifier = "t" + user_row(i);
      break;
    case KeyShape::kEqualCells:
      row = user_row(random.below(7));
      timestamp = 1;
      sequence = random.below(2);
      break;
    case KeyShape::kFamilies:
      row = user_row(random.below(3));
      family = alphabet_bytes(random, 3);
      qualifier = alphabet_bytes(random, 3);
      break;
    case KeyShape::kMixed:
      break;
  }
  cell.assign(row, family, qualifier, timestamp, type, sequence, value);
}

}  // namespace cellar::testing
