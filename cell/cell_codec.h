// Encodes CellView to flat keys (the key part of HBase's KeyValue) and decodes them. OwnedCell: a cell
// with its bytes.
#pragma once

#include <string>
#include <string_view>

#include "cellar/cell.h"
#include "cellar/status.h"

namespace cellar {

// Returns the size in bytes of a flat key whose parts have the given sizes.
constexpr size_t flat_key_bytes(size_t row, size_t family, size_t qualifier) {
  return 2 + row + 1 + family + qualifier + 9;
}

// Writes the flat key to `to` (room for flat_key_bytes) and returns its size. The caller has checked the
// sizes.
size_t store_flat_key(char* to, std::string_view row, std::string_view family, std::string_view qualifier,
                      int64_t timestamp, CellType type);
void append_flat_key(std::string& to, std::string_view row, std::string_view family,
                     std::string_view qualifier, int64_t timestamp, CellType type);

// Points `view` at a flat key of untrusted bytes and decodes its parts; value, tags and sequence stay
// unchanged. Returns false if the sizes do not add up. Does not check the type: index keys carry type
// 255.
inline bool parse_flat_key(const char* key, size_t key_size, CellView& view);

// Returns "row/family:qualifier/timestamp/type", escaped, for messages.
std::string key_text(const CellView& cell);

// CellLimits: the limits of a cell that may be stored. check_cell() returns Ok for a cell that has:
//  - a row of 1 to 32,767 bytes, and a family of at most 127 bytes
//  - a stored type
//  - a timestamp of 0 to 2^63-2, unless `latest_timestamp_ok`
//  - well-formed tags of at most 32,767 bytes, and a value of at most `value_bytes_max`
// Otherwise kInvalidArgument or kLimit with the cell in the message.
struct CellLimits {
  size_t value_bytes_max = 10u << 20;
  bool empty_family_ok = false;
  bool latest_timestamp_ok = false;  // foreign files have such cells (Hudi)
};
Status check_cell(const CellView& cell, const CellLimits& limits);

// Returns whether the tags in the list fill its bytes exactly, each tag having at least one byte.
bool tags_well_formed(std::string_view tags);

// OwnedCell: the bytes of one cell in a buffer, and a view of them; for search keys, separators and
// copies. Moving or copying keeps view() correct. One thread at a time; view() is valid until the next
// assign or until the object is destroyed.
class OwnedCell {
 public:
  OwnedCell() = default;
  OwnedCell(const OwnedCell& other);
  OwnedCell& operator=(const OwnedCell& other);

  // Sets the cell. The parts may have any length: each is cut just after the maximum length of a stored
  // part. Search keys still sort correctly, and check_cell() refuses the cell.
  void assign(std::string_view row, std::string_view family, std::string_view qualifier, int64_t timestamp,
              CellType type, uint64_t sequence, std::string_view value = {}, std::string_view tags = {});
  // The same, without a value and tags: a search key.
  void assign_search(std::string_view row, std::string_view family, std::string_view qualifier,
                     int64_t timestamp, CellType type, uint64_t sequence);
  void assign(const CellView& cell);
  // Sets the cell from a flat key of trusted bytes (Cellar's own, or checked by parse_flat_key).
  void assign_key(std::string_view flat_key, uint64_t sequence);
  const CellView& view() const { return view_; }

 private:
  void point(size_t key_size, size_t value_size, size_t tags_size);
  std::string bytes_;
  CellView view_;
};

inline bool parse_flat_key(const char* key, size_t key_size, CellView& view) {
  if (key_size < 12) return false;
  const auto row_size =
      static_cast<uint16_t>((static_cast<uint8_t>(key[0]) << 8) | static_cast<uint8_t>(key[1]));
  if (key_size < 12u + row_size) return false;
  const auto family_size = static_cast<uint8_t>(key[2 + row_size]);
  if (key_size < 12u + row_size + family_size) return false;
  uint64_t timestamp;
  __builtin_memcpy(&timestamp, key + key_size - 9, 8);
  view.key = key;
  view.key_size = static_cast<uint32_t>(key_size);
  view.row_size = row_size;
  view.family_size = family_size;
  view.timestamp = static_cast<int64_t>(__builtin_bswap64(timestamp));
  view.cell_type = static_cast<CellType>(static_cast<uint8_t>(key[key_size - 1]));
  return true;
}

}  // namespace cellar
