// The total order of cells: row, family, qualifier ascending; timestamp, type, sequence descending (HBase's
// CellComparatorImpl).
#pragma once

#include <compare>
#include <cstring>
#include <string>
#include <string_view>

#include "cellar/cell.h"

namespace cellar {

inline int compare_bytes(std::string_view a, std::string_view b) { return a.compare(b); }

// Whether the key is "last on row": it sorts after every cell of its row.
inline bool ends_row(const CellView& key) {
  return key.cell_type == CellType::kMinimum && key.key_size == key.row_size + 12u;
}

// Order by everything except the sequence: the order of keys in an HFile.
inline std::strong_ordering compare_keys(const CellView& a, const CellView& b) {
  if (const int rows = compare_bytes(a.row(), b.row()); rows != 0) return rows <=> 0;
  if (ends_row(a) || ends_row(b)) return ends_row(a) <=> ends_row(b);
  if (a.family_size == b.family_size) {
    if (const int columns = compare_bytes(a.column(), b.column()); columns != 0) return columns <=> 0;
  } else {
    if (const int families = compare_bytes(a.family(), b.family()); families != 0) return families <=> 0;
  }
  if (a.timestamp != b.timestamp) return b.timestamp <=> a.timestamp;
  return static_cast<uint8_t>(b.cell_type) <=> static_cast<uint8_t>(a.cell_type);
}

// Of two keys with rows and families of the same size: where the first byte differs, at the latest where the
// shorter qualifier ends (end_of_columns). The byte there decides their order.
inline uint32_t end_of_columns(const CellView& a, const CellView& b) {
  return (a.key_size < b.key_size ? a.key_size : b.key_size) - 9u;
}
inline uint32_t first_difference(const CellView& a, const CellView& b) {
  const uint32_t end = end_of_columns(a, b);
  for (uint32_t at = 2; at < end; at += 8) {  // timestamp and type follow: 8 bytes from here are in the key
    uint64_t left;
    uint64_t right;
    std::memcpy(&left, a.key + at, sizeof left);
    std::memcpy(&right, b.key + at, sizeof right);
    if (left == right) continue;
    const uint32_t differing = at + static_cast<uint32_t>(__builtin_ctzll(left ^ right)) / 8;
    return differing < end ? differing : end;
  }
  return end;
}
inline bool same_sizes(const CellView& a, const CellView& b) {
  return a.row_size == b.row_size && a.family_size == b.family_size;
}

// Whether the stored cell a's key lies before b's, as far as a quick look tells: false means that it does
// not.
inline bool plainly_before(const CellView& a, const CellView& b) {
  if (!same_sizes(a, b)) return false;
  const uint32_t at = first_difference(a, b);
  return at < end_of_columns(a, b) && static_cast<uint8_t>(a.key[at]) < static_cast<uint8_t>(b.key[at]);
}

// The total order. Equal only for cells that no order of writing tells apart.
inline std::strong_ordering compare_cells(const CellView& a, const CellView& b) {
  const std::strong_ordering keys = compare_keys(a, b);
  return keys != 0 ? keys : b.sequence <=> a.sequence;
}

inline bool same_row(const CellView& a, const CellView& b) {
  return a.row_size == b.row_size && std::memcmp(a.key + 2, b.key + 2, a.row_size) == 0;
}
// Same row, family and qualifier; right for any two cells.
inline bool same_column(const CellView& a, const CellView& b) {
  return a.key_size == b.key_size && a.row_size == b.row_size && a.family_size == b.family_size &&
         std::memcmp(a.key + 2, b.key + 2, a.key_size - 11u) == 0;
}

// Which rule shortens index separators (hfile-format: index key of a block).
enum class SeparatorRule : uint8_t {
  kRealKeys,    // HBase to 0.94: the block's first key
  kHBase1To24,  // HBase 1.0 to 2.4
  kHBase25,     // HBase 2.5 and later
};

// A flat key s with left < s <= right, short where the rule allows it: the index key of a block that begins
// with `right` and follows `left`. Replaces `separator`'s content.
void shortest_separator(SeparatorRule rule, const CellView& left, const CellView& right,
                        std::string& separator);

// Order of rows of hbase:meta ("table,start key,id"), by which old catalogue files are sorted; then as
// compare_keys.
std::strong_ordering compare_meta_keys(const CellView& a, const CellView& b);

}  // namespace cellar
