// Flat keys: HBase's coordinates in a single byte string with the same order, for engines that have only
// keys.
//
//   row' 00 00 qualifier' 00 00 [~timestamp (8) ~type (1)]      ' : every 00 written as 00 FF
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace cellar::bench {

constexpr uint8_t kPutType = 4;            // HBase's codes
constexpr uint8_t kDeleteFamilyType = 14;  // sorts, inverted, before all puts of its timestamp
constexpr size_t kVersionBytes = 9;

inline void append_part(std::string& key, std::string_view bytes) {
  while (true) {
    const size_t zero = bytes.find('\0');
    if (zero == std::string_view::npos) break;
    key.append(bytes.data(), zero).append("\0\xff", 2);
    bytes.remove_prefix(zero + 1);
  }
  key.append(bytes).append("\0\0", 2);
}

inline void append_version(std::string& key, int64_t timestamp, uint8_t type) {
  uint64_t word = __builtin_bswap64(~static_cast<uint64_t>(timestamp));
  key.append(reinterpret_cast<const char*>(&word), sizeof word).push_back(static_cast<char>(~type));
}

// Returns the offset after the part that begins at `from`, after its 00 00.
inline size_t part_end(std::string_view key, size_t from) {
  while (true) {
    const void* zero = std::memchr(key.data() + from, 0, key.size() - from);
    if (zero == nullptr) return key.size();
    from = static_cast<size_t>(static_cast<const char*>(zero) - key.data()) + 1;
    if (from >= key.size() || key[from] == '\0') return from + 1 < key.size() ? from + 1 : key.size();
    ++from;
  }
}

// Undoes the doubling of zeros; `room` is used only where there are any.
inline std::string_view plain_part(std::string_view part, std::string& room) {
  part.remove_suffix(2);
  if (std::memchr(part.data(), 0, part.size()) == nullptr) return part;
  room.clear();
  for (size_t i = 0; i < part.size(); ++i) {
    room.push_back(part[i]);
    if (part[i] == '\0') ++i;
  }
  return room;
}

// A key taken apart, in place.
struct FlatKey {
  std::string_view row;     // with its 00 00
  std::string_view column;  // row and qualifier, with their 00 00
  int64_t timestamp = 0;
  uint8_t type = 0;

  std::string_view qualifier() const { return column.substr(row.size()); }
};

inline FlatKey parse_versioned(std::string_view key) {
  FlatKey parts;
  const size_t column = key.size() - kVersionBytes;
  uint64_t word;
  std::memcpy(&word, key.data() + column, sizeof word);
  parts.timestamp = static_cast<int64_t>(~__builtin_bswap64(word));
  parts.type = static_cast<uint8_t>(~key.back());
  parts.column = key.substr(0, column);
  parts.row = key.substr(0, part_end(parts.column, 0));
  return parts;
}

// Returns the first key after all keys with this prefix; empty if no key can follow.
inline std::string behind_prefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) ++end.back();
  return end;
}

}  // namespace cellar::bench
