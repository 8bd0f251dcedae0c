// The total order of cells: row, family, qualifier ascending; timestamp, type, sequence descending (HBase's
// CellComparatorImpl).
#pragma once

#include <compare>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/coding.h"
#include "cellar/cell.h"

namespace cellar {

inline int compare_bytes(std::string_view a, std::string_view b) { return a.compare(b); }

// Returns the first eight bytes of a qualifier as a big-endian number, with zeros after its end.
inline uint64_t qualifier_word(const CellView& cell) {
  const uint32_t before = 3u + cell.row_size + cell.family_size;
  const uint32_t bytes = cell.key_size - 9 - before;
  // Eight bytes are within the key, because timestamp and type follow.
  const uint64_t word = load_be64(cell.key + before);
  return bytes >= sizeof word ? word : word & ~(UINT64_MAX >> (8 * bytes));
}
// Returns the eight bytes of a row from `from` on as a big-endian number, with zeros after its end. from ≤
// row_size.
[[gnu::always_inline]] inline uint64_t row_word_of(const CellView& cell, size_t from) {
  CELLAR_DCHECK(from <= cell.row_size);
  const size_t bytes = cell.row_size - from;
  // Eight bytes are within the key, because at least ten bytes follow the row.
  const uint64_t word = load_be64(cell.key + 2 + from);
  if (bytes >= sizeof word) [[likely]]
    return word;
  return bytes == 0 ? 0 : word & ~(UINT64_MAX >> (8 * bytes));
}
// Compares a name with the qualifier of a cell. The words are the first eight bytes of both. Most names
// differ in them or are short, and need no call.
inline int compare_qualifiers(std::string_view name, uint64_t name_word, const CellView& cell,
                              uint64_t word) {
  CELLAR_DCHECK(name_word == row_word(name, 0) && word == qualifier_word(cell));
  if (name_word != word) return name_word < word ? -1 : 1;
  const std::string_view qualifier = cell.qualifier();
  if (name.size() > sizeof word && qualifier.size() > sizeof word) return name.compare(qualifier);
  // The shorter one is the beginning of the other, which may go on with zeros.
  return static_cast<int>(name.size() > qualifier.size()) - static_cast<int>(name.size() < qualifier.size());
}

// Returns whether the key is "last on row": it sorts after every cell of its row.
inline bool ends_row(const CellView& key) {
  return key.cell_type == CellType::kMinimum && key.key_size == key.row_size + 12u;
}

inline bool same_sizes(const CellView& a, const CellView& b) {
  return a.row_size == b.row_size && a.family_size == b.family_size;
}
// The same for views that may just have been made. gcc joins the comparisons of same_sizes() into one load of
// eight bytes. That load would wait for the stores of the single members, a tenth of a batch's time. gcc does
// not join the comparisons here.
inline bool same_new_sizes(const CellView& a, const CellView& b) {
  return ((a.row_size ^ b.row_size) | (a.family_size ^ b.family_size)) == 0;
}

inline bool same_family(const CellView& a, const CellView& b) {
  if (a.family_size != b.family_size) return false;
  constexpr uint32_t kWord = sizeof(uint64_t);
  if (a.family_size > kWord) return a.family() == b.family();
  // Eight bytes from its beginning are within the key, because timestamp and type follow.
  const uint64_t difference = load_le64(a.key + 3 + a.row_size) ^ load_le64(b.key + 3 + b.row_size);
  return a.family_size == 0 || difference << (8 * (kWord - a.family_size)) == 0;
}

// For two keys whose rows and families have the same sizes: returns the offset of the first differing
// byte. The maximum is the end of the shorter qualifier (end_of_columns). The byte at this offset decides
// the order.
inline uint32_t end_of_columns(const CellView& a, const CellView& b) {
  CELLAR_DCHECK(same_sizes(a, b) && a.key_size >= 12 && b.key_size >= 12);
  return (a.key_size < b.key_size ? a.key_size : b.key_size) - 9u;
}
inline uint32_t first_difference(const CellView& a, const CellView& b) {
  const uint32_t end = end_of_columns(a, b);
  // 8 bytes from `at` are within the key, because timestamp and type follow.
  for (uint32_t at = 2; at < end; at += 8) {
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

// Compares two keys whose rows and families have the same sizes, and of which neither ends its row. It looks
// at the bytes in which they differ.
inline std::strong_ordering compare_like_keys(const CellView& a, const CellView& b) {
  CELLAR_DCHECK(same_sizes(a, b) && !ends_row(a) && !ends_row(b));
  if (const uint32_t at = first_difference(a, b); at < end_of_columns(a, b))
    return static_cast<uint8_t>(a.key[at]) <=> static_cast<uint8_t>(b.key[at]);
  if (a.key_size != b.key_size) return a.key_size <=> b.key_size;
  if (a.timestamp != b.timestamp) return b.timestamp <=> a.timestamp;
  return static_cast<uint8_t>(b.cell_type) <=> static_cast<uint8_t>(a.cell_type);
}

// The same for any two keys. Slower.
std::strong_ordering compare_unlike_keys(const CellView& a, const CellView& b);

// Compares everything except the sequence: the order of keys in an HFile. The views may just have been made.
inline std::strong_ordering compare_keys(const CellView& a, const CellView& b) {
  if (same_new_sizes(a, b) && !ends_row(a) && !ends_row(b)) [[likely]]
    return compare_like_keys(a, b);
  return compare_unlike_keys(a, b);
}

// Returns true if the key of the stored cell `a` sorts before that of `b` and a quick look can tell.
// False leaves the order open. The views may just have been made.
[[gnu::always_inline]] inline bool plainly_before(const CellView& a, const CellView& b) {
  if (!same_new_sizes(a, b)) return false;
  const uint32_t at = first_difference(a, b);
  const bool before =
      at < end_of_columns(a, b) && static_cast<uint8_t>(a.key[at]) < static_cast<uint8_t>(b.key[at]);
  CELLAR_DCHECK(!before || compare_keys(a, b) < 0);
  return before;
}

// Compares in the total order. Two cells are equal only if no order of writing distinguishes them.
inline std::strong_ordering compare_cells(const CellView& a, const CellView& b) {
  const std::strong_ordering keys = compare_keys(a, b);
  return keys != 0 ? keys : b.sequence <=> a.sequence;
}

// Compares two stored cells in the total order. Most often it looks only at the bytes in which they differ.
// Search keys need compare_cells.
[[gnu::always_inline]] inline std::strong_ordering compare_stored(const CellView& a, const CellView& b) {
  CELLAR_DCHECK(is_stored_type(a.cell_type) && is_stored_type(b.cell_type));
  if (!same_sizes(a, b)) return compare_cells(a, b);
  const std::strong_ordering keys = compare_like_keys(a, b);
  return keys != 0 ? keys : b.sequence <=> a.sequence;
}

inline bool same_row(const CellView& a, const CellView& b) {
  if (a.row_size != b.row_size) return false;
  // 8 bytes from `at` are within the key, because at least 10 bytes follow the row.
  for (uint32_t at = 0; at < a.row_size; at += 8) {
    uint64_t left;
    uint64_t right;
    std::memcpy(&left, a.key + 2 + at, sizeof left);
    std::memcpy(&right, b.key + 2 + at, sizeof right);
    if (left != right) return at + static_cast<uint32_t>(__builtin_ctzll(left ^ right)) / 8 >= a.row_size;
  }
  return true;
}
// The same for two keys whose rows have the same size. Looks at the last bytes of the rows first, where most
// rows differ.
[[gnu::always_inline]] inline bool rows_differ(const CellView& a, const CellView& b) {
  CELLAR_DCHECK(a.row_size == b.row_size);
  constexpr uint32_t kWord = sizeof(uint64_t);
  if (a.row_size + 2u < kWord) return !same_row(a, b);
  const auto word_differs = [&](uint32_t at) {
    uint64_t left;
    uint64_t right;
    std::memcpy(&left, a.key + at, kWord);  // the size of the row comes before it
    std::memcpy(&right, b.key + at, kWord);
    return left != right;
  };
  const uint32_t last = a.row_size + 2 - kWord;
  if (word_differs(last)) return true;
  for (uint32_t at = 0; at < last; at += kWord)
    if (word_differs(at)) return true;
  return false;
}

// For two keys of one row and of the same size: returns whether the last bytes of the columns differ. False
// leaves it open whether the columns do.
inline bool columns_end_differently(const CellView& a, const CellView& b) {
  CELLAR_DCHECK(a.row_size == b.row_size && a.key_size == b.key_size);
  uint64_t left;
  uint64_t right;  // a key has 12 bytes at least, of which the last 9 are the timestamp and the type
  std::memcpy(&left, a.key + a.key_size - 12, sizeof left);
  std::memcpy(&right, b.key + b.key_size - 12, sizeof right);
  // The three bytes before the timestamp.
  constexpr uint64_t kThree = 0xFFFFFF;
  return ((left ^ right) & kThree) != 0;
}

// For two keys of one row: returns whether they have the same column. Two columns most often differ in their
// last bytes.
[[gnu::always_inline]] inline bool same_column_of_row(const CellView& a, const CellView& b) {
  CELLAR_DCHECK(a.row_size == b.row_size);
  if (a.key_size != b.key_size || columns_end_differently(a, b)) return false;
  return same_sizes(a, b) && first_difference(a, b) == end_of_columns(a, b);
}

// Returns whether row, family and qualifier are equal. Correct for any two cells. Makes no call.
inline bool same_column(const CellView& a, const CellView& b) {
  CELLAR_DCHECK(a.key_size >= 12 && b.key_size >= 12);
  if (a.key_size != b.key_size || !same_sizes(a, b)) return false;
  constexpr uint32_t kWord = sizeof(uint64_t);
  const auto difference_at = [&](uint32_t at) { return load_le64(a.key + at) ^ load_le64(b.key + at); };
  const uint32_t end = a.key_size - 9u;  // eight bytes and more follow it
  if (end < kWord) return difference_at(0) << (8 * (kWord - end)) == 0;
  if (difference_at(end - kWord) != 0) return false;
  for (uint32_t at = 0; at + kWord < end; at += kWord)
    if (difference_at(at) != 0) return false;
  return true;
}

// SeparatorRule: the rule that shortens index separators (hfile-format: index key of a block).
enum class SeparatorRule : uint8_t {
  kRealKeys,    // HBase to 0.94: the block's first key
  kHBase1To24,  // HBase 1.0 to 2.4
  kHBase25,     // HBase 2.5 and later
};

// Replaces `separator` with a flat key s with left < s <= right, short if the rule allows. It is the
// index key of a block that begins with `right` and follows `left`.
void shortest_separator(SeparatorRule rule, const CellView& left, const CellView& right,
                        std::string& separator);

// Compares like the rows of hbase:meta ("table,start key,id"), by which old catalogue files are sorted,
// then like compare_keys.
std::strong_ordering compare_meta_keys(const CellView& a, const CellView& b);

}  // namespace cellar
