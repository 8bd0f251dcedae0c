// Radix keys: a cell's key as a string of symbols, whose order is the order of cells.
//
// A radix tree compares keys symbol by symbol. The bytes of a row do not suffice: a row may contain any byte,
// and be the beginning of another one. So there are 257 symbols: 0 ends a part, and the symbol of a byte is
// one more than its value. Nothing has to be escaped. The string is never made: its symbols are computed from
// the cell. It consists of:
//
//   row | end | family | end | qualifier | end | timestamp (8) | type | sequence (8)
//
// The last three are inverted, because greater ones come first. They are big-endian, and need no end. Two
// strings that share all symbols before a position have the same parts at it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/coding.h"
#include "cell/cell_order.h"
#include "memtable/key_prefix.h"

namespace cellar {

// A symbol is signed, so that the one before the first can be named.
constexpr int32_t kEndSymbol = 0;
constexpr int32_t kSymbols = 257;
// The key "last on row" has this symbol after the end of its row: it sorts after every cell of the row.
constexpr int32_t kAfterSymbols = kSymbols;
// The result of radix_difference() for keys that do not differ.
constexpr uint32_t kNoDifference = UINT32_MAX;

// Returns the byte at `index` of a big-endian number.
inline uint8_t byte_of(uint64_t number, uint32_t index) {
  CELLAR_DCHECK(index < 8);
  return static_cast<uint8_t>(number >> (56 - 8 * index));
}
inline int32_t symbol_of(char byte) { return int32_t{static_cast<uint8_t>(byte)} + 1; }

// Returns the symbol at `position`, which is after the row and its end.
inline int32_t symbol_behind_row(const CellView& cell, uint32_t position) {
  CELLAR_DCHECK(position > cell.row_size);
  if (ends_row(cell)) return kAfterSymbols;
  const uint32_t family_end = cell.row_size + 1u + cell.family_size;
  if (position < family_end) return symbol_of(cell.key[position + 2]);
  if (position == family_end) return kEndSymbol;
  const uint32_t qualifier_end = cell.key_size - 10;
  if (position < qualifier_end) return symbol_of(cell.key[position + 1]);
  if (position == qualifier_end) return kEndSymbol;
  const uint32_t index = position - qualifier_end - 1;
  CELLAR_DCHECK(index < 17);
  if (index < 8) return byte_of(inverted_timestamp(cell.timestamp), index) + 1;
  if (index == 8) return 256 - static_cast<int32_t>(cell.cell_type);
  return byte_of(~cell.sequence, index - 9) + 1;
}

// Returns the symbol at `position`, which must be within the string.
inline int32_t symbol_at(const CellView& cell, uint32_t position) {
  if (position < cell.row_size) return symbol_of(cell.key[2 + position]);
  return position == cell.row_size ? kEndSymbol : symbol_behind_row(cell, position);
}

// Returns the first index from `from` to `size` at which two byte strings differ, or `size`. Eight bytes must
// be readable from every index below `size`.
inline uint32_t byte_difference(const char* a, const char* b, uint32_t from, uint32_t size) {
  for (uint32_t at = from; at < size; at += 8) {
    uint64_t left;
    uint64_t right;
    std::memcpy(&left, a + at, sizeof left);
    std::memcpy(&right, b + at, sizeof right);
    if (left != right) return std::min(size, at + static_cast<uint32_t>(std::countr_zero(left ^ right)) / 8);
  }
  return size;
}

// The same for two keys of one row that do not end it.
inline uint32_t difference_behind_row(const CellView& a, const CellView& b, uint32_t from) {
  CELLAR_DCHECK(a.row_size == b.row_size);
  uint32_t begin = a.row_size + 1u;
  const uint32_t family_size = std::min(a.family_size, b.family_size);
  const uint32_t family = byte_difference(a.key + 2 + begin, b.key + 2 + begin, 0, family_size);
  if (family < family_size || a.family_size != b.family_size) return begin + family;
  begin += family_size + 1;
  const uint32_t size = std::min(a.key_size, b.key_size) - 10 - begin;  // of the shorter qualifier
  const uint32_t known = from > begin ? std::min(from - begin, size) : 0;
  const uint32_t same = byte_difference(a.key + 1 + begin, b.key + 1 + begin, known, size);
  if (same < size || a.key_size != b.key_size) return begin + same;
  begin += size + 1;
  const auto zeros = [](uint64_t differs) { return static_cast<uint32_t>(std::countl_zero(differs)) / 8; };
  const uint64_t times = inverted_timestamp(a.timestamp) ^ inverted_timestamp(b.timestamp);
  if (times != 0) return begin + zeros(times);
  if (a.cell_type != b.cell_type) return begin + 8;
  return a.sequence != b.sequence ? begin + 9 + zeros(a.sequence ^ b.sequence) : kNoDifference;
}

// Returns the first position at which two keys differ, or kNoDifference. They must not differ before `from`.
// One of them may be a search key.
inline uint32_t radix_difference(const CellView& a, const CellView& b, uint32_t from) {
  const uint32_t rows_end = std::min(a.row_size, b.row_size);
  CELLAR_DCHECK(from <= rows_end || a.row_size == b.row_size);
  const uint32_t row = byte_difference(a.key + 2, b.key + 2, from, rows_end);
  if (row < rows_end || a.row_size != b.row_size) return row;
  if (ends_row(a) || ends_row(b)) return rows_end + 1;
  return difference_behind_row(a, b, from);
}

}  // namespace cellar
