// Separators of index blocks, and the order of hbase:meta rows.
#include "cell/cell_order.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "cell/cell_codec.h"

namespace cellar {
namespace {

// Computes the shortest string s with left < s <= right under the rule; `right` itself if there is no
// shorter one.
void shortest(SeparatorRule rule, std::string_view left, std::string_view right, std::string& result) {
  const size_t common = common_prefix(left, right);
  CELLAR_ASSERT(rule != SeparatorRule::kRealKeys && left != right);
  if (rule == SeparatorRule::kHBase25) {
    result.assign(left.substr(0, common));
    // If `left` is a prefix of `right`, append a zero byte. Otherwise increment the first differing byte
    // of `left`.
    result.push_back(common == left.size() ? '\0'
                                           : static_cast<char>(static_cast<uint8_t>(left[common]) + 1));
    return;
  }
  if (common < left.size()) {
    // HBase 1.0 to 2.4 compares the left byte as signed with the right byte as unsigned.
    const int signed_left = static_cast<signed char>(left[common]);
    const int unsigned_right = static_cast<uint8_t>(right[common]);
    if (static_cast<uint8_t>(left[common]) != 0xff && signed_left + 1 < unsigned_right) {
      result.assign(left.substr(0, common));
      result.push_back(static_cast<char>(static_cast<uint8_t>(left[common]) + 1));
      return;
    }
  }
  result.assign(right.substr(0, common + 1));
}

struct MetaRow {
  std::string_view table;
  std::string_view start;
  std::string_view rest;
  bool has_comma = false;
};

MetaRow split(std::string_view row) {
  const size_t first = row.find(',');
  if (first == std::string_view::npos) return {row, {}, {}, false};
  const size_t last = row.rfind(',');
  if (last == first) return {row.substr(0, first), row.substr(first + 1), {}, true};
  return {row.substr(0, first), row.substr(first + 1, last - first - 1), row.substr(last + 1), true};
}

int compare_meta_rows(std::string_view a, std::string_view b) {
  const MetaRow left = split(a);
  const MetaRow right = split(b);
  if (const int tables = left.table.compare(right.table); tables != 0) return tables;
  if (left.has_comma != right.has_comma) return left.has_comma ? 1 : -1;
  if (const int starts = left.start.compare(right.start); starts != 0) return starts;
  return left.rest.compare(right.rest);
}

}  // namespace

void shortest_separator(SeparatorRule rule, const CellView& left, const CellView& right,
                        std::string& separator) {
  separator.clear();
  if (rule != SeparatorRule::kRealKeys) {
    std::string part;
    if (!same_row(left, right)) {
      CELLAR_DCHECK(left.row() < right.row());
      shortest(rule, left.row(), right.row(), part);
      return append_flat_key(separator, part, {}, {}, kLatestTimestamp, CellType::kMaximum);
    }
    if (left.family() != right.family()) {
      shortest(rule, left.family(), right.family(), part);
      return append_flat_key(separator, right.row(), part, {}, kLatestTimestamp, CellType::kMaximum);
    }
    if (left.qualifier() != right.qualifier()) {
      shortest(rule, left.qualifier(), right.qualifier(), part);
      return append_flat_key(separator, right.row(), right.family(), part, kLatestTimestamp,
                             CellType::kMaximum);
    }
  }
  separator.assign(right.key_bytes());
}

std::strong_ordering compare_unlike_keys(const CellView& a, const CellView& b) {
  if (a.row_size != b.row_size || rows_differ(a, b)) return compare_bytes(a.row(), b.row()) <=> 0;
  if (ends_row(a) || ends_row(b)) return ends_row(a) <=> ends_row(b);
  if (a.family_size == b.family_size) {
    if (const int columns = compare_bytes(a.column(), b.column()); columns != 0) return columns <=> 0;
  } else {
    if (const int families = compare_bytes(a.family(), b.family()); families != 0) return families <=> 0;
  }
  if (a.timestamp != b.timestamp) return b.timestamp <=> a.timestamp;
  return static_cast<uint8_t>(b.cell_type) <=> static_cast<uint8_t>(a.cell_type);
}

std::strong_ordering compare_meta_keys(const CellView& a, const CellView& b) {
  if (const int rows = compare_meta_rows(a.row(), b.row()); rows != 0) return rows <=> 0;
  // Rows that compare as equal normally are equal, and the standard order decides the rest.
  if (a.row() != b.row()) return a.row().compare(b.row()) <=> 0;
  return compare_keys(a, b);
}

}  // namespace cellar
