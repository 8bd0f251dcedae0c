// CellKey, encode and decode: flat keys (the key part of HBase's KeyValue) to CellView and back.
#pragma once

#include <string>
#include <string_view>

#include "cellar/cell.h"
#include "cellar/status.h"

namespace cellar {

// Bytes of the flat key of these coordinates.
constexpr size_t flat_key_bytes(size_t row, size_t family, size_t qualifier) {
  return 2 + row + 1 + family + qualifier + 9;
}

// Writes the flat key to `to` (room for flat_key_bytes), returns its size. Sizes were checked by the caller.
size_t store_flat_key(char* to, std::string_view row, std::string_view family, std::string_view qualifier,
                      int64_t timestamp, CellType type);
void append_flat_key(std::string& to, std::string_view row, std::string_view family,
                     std::string_view qualifier, int64_t timestamp, CellType type);

// Points `view` at a flat key of untrusted bytes and decodes its parts; value, tags and sequence stay as they
// are. False when the sizes do not add up. The type is not checked (index keys carry 255).
inline bool parse_flat_key(const char* key, size_t key_size, CellView& view);

// "row/family:qualifier/timestamp/type", escaped; for messages.
std::string key_text(const CellView& cell);

// Ok when the cell may be stored: row 1…32,767 bytes, family ≤ 127, stored type, timestamp 0…2^63-2 unless
// `latest_timestamp_ok`, tags ≤ 32,767 bytes and well formed, value ≤ value_bytes_max. Else kInvalidArgument
// or kLimit naming the cell.
struct CellLimits {
  size_t value_bytes_max = 10u << 20;
  bool empty_family_ok = false;
  bool latest_timestamp_ok = false;  // foreign files hold it (Hudi)
};
Status check_cell(const CellView& cell, const CellLimits& limits);

// Whether a list of tags tiles its bytes exactly, each of at least one byte.
bool tags_well_formed(std::string_view tags);

// OwnedCell: bytes of one cell kept in a buffer, and the view of them. For search keys, separators and
// copies. Moving or copying keeps view() right. One thread at a time; view() lives until the next assign or
// the object's end.
class OwnedCell {
 public:
  OwnedCell() = default;
  OwnedCell(const OwnedCell& other);
  OwnedCell& operator=(const OwnedCell& other);

  // Parts may have any length. What is longer than any stored part is cut just after that length: search keys
  // sort as before, and check_cell() refuses the cell.
  void assign(std::string_view row, std::string_view family, std::string_view qualifier, int64_t timestamp,
              CellType type, uint64_t sequence, std::string_view value = {}, std::string_view tags = {});
  void assign(const CellView& cell);
  // From a flat key of trusted bytes (our own, or checked by parse_flat_key).
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
