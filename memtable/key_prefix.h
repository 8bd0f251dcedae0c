// Key prefixes: 4 bytes of a cell's key as one integer, taken where the keys of a node begin to differ.
//
// A shape says where. Whatever the shape, prefix(a) < prefix(b) implies a < b (cell_order.h); equal prefixes
// say nothing and are settled by compare_cells. The shapes:
//
//   kRow        bytes [skip, skip + 4) of the row, zero-padded. "a" and "a\0" are equal: no order is claimed.
//   kQualifier  bytes [skip, skip + 4) of the qualifier, among cells of one row and family
//   kTimestamp  bytes [skip, skip + 4) of the timestamp, inverted and big-endian, among cells of one column
//   kNone       0: everything is equal
//
// Four bytes beside 14 keys are enough because they begin where these keys differ; eight would cost a cache
// line more per node.
//
// prefix_of takes the common part for granted: the cell must share it with the node's keys. checked_prefix_of
// does not; it compares with a reference cell and answers 0 for cells before, all ones for cells after those
// that share it, which keeps the promise above for every cell, search keys included.
#pragma once

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_order.h"

namespace cellar {

enum class PrefixPart : uint8_t { kNone, kRow, kQualifier, kTimestamp };

struct PrefixShape {
  uint16_t skip = 0;
  PrefixPart part = PrefixPart::kRow;
  bool checked = true;  // the node's cells need not share the common part: use checked_prefix_of
};

// The 4 bytes at `from`, of which `size` belong to the string, the rest as zeros. At least 4 bytes must be
// readable: rows and qualifiers are followed by more than that in a flat key.
inline uint32_t padded_prefix(const char* from, size_t size) {
  const uint32_t bytes = load_be32(from);
  if (size >= 4) return bytes;
  return size == 0 ? 0 : bytes & (~uint32_t{0} << (32 - 8 * size));
}

// Grows as timestamps fall: the order of versions.
inline uint64_t inverted_timestamp(int64_t timestamp) {
  return ~(static_cast<uint64_t>(timestamp) ^ (uint64_t{1} << 63));
}
// The first `bytes` bytes of it, at most 4.
inline uint64_t timestamp_head(int64_t timestamp, uint32_t bytes) {
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
      return static_cast<uint32_t>((inverted_timestamp(cell.timestamp) << (8 * shape.skip)) >> 32);
    case PrefixPart::kNone:
      break;
  }
  return 0;
}

// Where `cell` stands to the cells that share the shape's common part with `reference`: before (< 0), after
// (> 0), or it shares it too (0).
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

// The shape for all stored cells from `low` to `high`, both included: skips what they must have in common.
inline PrefixShape shape_between(const CellView& low, const CellView& high) {
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

// The same for a node whose range is open: `low` and `high` are what it holds, cells to come may lie outside.
// A byte less is skipped, so that a counter that carries does not leave the shape at once.
inline PrefixShape open_shape_between(const CellView& low, const CellView& high) {
  PrefixShape shape = shape_between(low, high);
  shape.checked = true;
  if (shape.skip > 0) --shape.skip;
  return shape;
}

}  // namespace cellar
