// Key prefixes: 4 bytes of a cell's key, as an integer, taken where the keys of a node begin to differ.
//
// A shape names the bytes that form the prefix. For every shape, prefix(a) < prefix(b) implies a < b
// (cell_order.h). Equal prefixes decide nothing, and compare_cells settles them. The shapes are:
//
// - kRow: bytes [skip, skip + 4) of the row, zero-padded. "a" and "a\0" are equal: no order is claimed.
// - kQualifier: bytes [skip, skip + 4) of the qualifier, among cells of one row and family
// - kTimestamp: bytes [skip, skip + 4) of the timestamp, inverted and big-endian, among cells of one column
// - kNone: 0; everything is equal
//
// Four bytes for each of the 14 keys are enough, because they begin where these keys differ. Eight bytes
// would cost one more cache line per node.
//
// prefix_of() requires that the cell shares the common part of the node's keys. checked_prefix_of() does
// not: it compares the cell with a reference cell. It returns 0 for cells before the cells that share the
// common part, and all ones for cells after them. The promise above then holds for every cell, including
// search keys.
#pragma once

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_order.h"

namespace cellar {

enum class PrefixPart : uint8_t { kNone, kRow, kQualifier, kTimestamp };

struct PrefixShape {
  uint16_t skip = 0;
  PrefixPart part = PrefixPart::kRow;
  bool checked = true;  // the node's cells may differ in the common part: use checked_prefix_of
};

// Returns the 4 bytes at `from`, the first byte highest; bytes beyond `size` count as zeros. At least 4
// bytes must be readable: in a flat key, rows and qualifiers are followed by more than 4 bytes.
inline uint32_t padded_prefix(const char* from, size_t size) {
  const uint32_t bytes = load_be32(from);
  if (size >= 4) return bytes;
  return size == 0 ? 0 : bytes & (~uint32_t{0} << (32 - 8 * size));
}

// Returns a number that grows as timestamps fall, which is the order of versions.
inline uint64_t inverted_timestamp(int64_t timestamp) {
  return ~(static_cast<uint64_t>(timestamp) ^ (uint64_t{1} << 63));
}
// Returns the first `bytes` bytes of inverted_timestamp(), at most 4.
inline uint64_t timestamp_head(int64_t timestamp, uint32_t bytes) {
  CELLAR_DCHECK(bytes <= 4);
  return bytes == 0 ? 0 : inverted_timestamp(timestamp) >> (64 - 8 * bytes);
}

inline uint32_t prefix_of(PrefixShape shape, const CellView& cell) {
  switch (shape.part) {
    case PrefixPart::kRow: {
      const size_t skip = std::min<size_t>(shape.skip, cell.row_size);
      return padded_prefix(cell.key + 2 + skip, cell.row_size - skip);
    }
    case PrefixPart::kQualifier: {
      const std::string_view qualifier = cell.qualifier();
      const size_t skip = std::min<size_t>(shape.skip, qualifier.size());
      return padded_prefix(qualifier.data() + skip, qualifier.size() - skip);
    }
    case PrefixPart::kTimestamp:
      CELLAR_DCHECK(shape.skip <= 4);
      return static_cast<uint32_t>((inverted_timestamp(cell.timestamp) << (8 * shape.skip)) >> 32);
    case PrefixPart::kNone:
      break;
  }
  return 0;
}

// Compares `cell` with the cells that share the shape's common part with `reference`. Returns < 0 if it is
// before them, > 0 if it is after them, 0 if it shares the part.
inline int compare_common_part(PrefixShape shape, const CellView& cell, const CellView& reference) {
  if (shape.part == PrefixPart::kNone) return 0;
  if (shape.part == PrefixPart::kRow) {
    return cell.row().substr(0, shape.skip).compare(reference.row().substr(0, shape.skip));
  }
  if (const int rows = cell.row().compare(reference.row()); rows != 0) return rows;
  if (ends_row(cell)) return 1;
  if (const int families = cell.family().compare(reference.family()); families != 0) return families;
  if (shape.part == PrefixPart::kTimestamp) {
    if (const int columns = cell.qualifier().compare(reference.qualifier()); columns != 0) return columns;
    const uint64_t head = timestamp_head(cell.timestamp, shape.skip);
    const uint64_t common = timestamp_head(reference.timestamp, shape.skip);
    return head < common ? -1 : head > common ? 1 : 0;
  }
  return cell.qualifier().substr(0, shape.skip).compare(reference.qualifier().substr(0, shape.skip));
}

inline uint32_t checked_prefix_of(PrefixShape shape, const CellView& cell, const CellView& reference) {
  const int order = compare_common_part(shape, cell, reference);
  if (order == 0) return prefix_of(shape, cell);
  return order < 0 ? 0 : ~uint32_t{0};
}

// Returns the shape for all stored cells from `low` to `high`, both included. It skips the bytes that
// these cells must have in common.
inline PrefixShape shape_between(const CellView& low, const CellView& high) {
  CELLAR_DCHECK(compare_cells(low, high) <= 0);
  PrefixShape shape;
  shape.checked = false;
  if (!same_row(low, high)) {
    shape.skip = static_cast<uint16_t>(common_prefix(low.row(), high.row()));
    return shape;
  }
  shape.part = PrefixPart::kNone;
  if (ends_row(low) || ends_row(high) || low.family() != high.family()) return shape;
  if (low.qualifier() == high.qualifier()) {
    const uint64_t differs = inverted_timestamp(low.timestamp) ^ inverted_timestamp(high.timestamp);
    shape.part = PrefixPart::kTimestamp;
    shape.skip = static_cast<uint16_t>(std::min(std::countl_zero(differs) / 8, 4));
    return shape;
  }
  const size_t common = common_prefix(low.qualifier(), high.qualifier());
  if (common > UINT16_MAX) return shape;
  shape.part = PrefixPart::kQualifier;
  shape.skip = static_cast<uint16_t>(common);
  return shape;
}

// Does the same for a node whose range is open: `low` and `high` are its present bounds, and later cells
// may lie outside. It skips one byte less, so that the carry of a counter does not leave the shape at
// once.
inline PrefixShape open_shape_between(const CellView& low, const CellView& high) {
  PrefixShape shape = shape_between(low, high);
  shape.checked = true;
  if (shape.skip > 0) --shape.skip;
  return shape;
}

}  // namespace cellar
