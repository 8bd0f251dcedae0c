// Integers as bytes: big-endian (HBase), little-endian (Cellar's log), and the variable-length integers
// of Hadoop and protobuf.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.h"

namespace cellar {

static_assert(std::endian::native == std::endian::little, "Cellar is written for little-endian machines");

inline uint16_t load_be16(const char* from) {
  uint16_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap16(value);
}
inline uint32_t load_be32(const char* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap32(value);
}
inline uint64_t load_be64(const char* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap64(value);
}
inline void store_be16(char* to, uint16_t value) {
  value = __builtin_bswap16(value);
  std::memcpy(to, &value, sizeof value);
}
inline void store_be32(char* to, uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(to, &value, sizeof value);
}
inline void store_be64(char* to, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

inline uint16_t load_le16(const char* from) {
  uint16_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline uint32_t load_le32(const char* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline uint64_t load_le64(const char* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline void store_le32(char* to, uint32_t value) { std::memcpy(to, &value, sizeof value); }
inline void store_le64(char* to, uint64_t value) { std::memcpy(to, &value, sizeof value); }

// Returns fewer than eight bytes as the leading bytes of a big-endian number. The loads may overlap.
inline uint64_t first_bytes(const char* at, size_t bytes) {
  CELLAR_DCHECK(bytes < 8);
  const auto byte = [at](size_t i) { return uint64_t{static_cast<uint8_t>(at[i])} << (56 - 8 * i); };
  if (bytes >= 4)
    return uint64_t{load_be32(at)} << 32 | uint64_t{load_be32(at + bytes - 4)} << (64 - 8 * bytes);
  return bytes == 0 ? 0 : byte(0) | byte(bytes / 2) | byte(bytes - 1);
}

// Returns the eight bytes of `row` from `from` on as a big-endian number, with zeros after its end. from ≤
// row.size().
inline uint64_t row_word(std::string_view row, size_t from) {
  const size_t bytes = row.size() - from;
  if (bytes >= 8) return load_be64(row.data() + from);
  if (row.size() < 8 || bytes == 0) return first_bytes(row.data() + from, bytes);
  return load_be64(row.data() + row.size() - 8) << (64 - 8 * bytes);
}

void append_be16(std::string& to, uint16_t value);
void append_be32(std::string& to, uint32_t value);
void append_be64(std::string& to, uint64_t value);
void append_le32(std::string& to, uint32_t value);
void append_le64(std::string& to, uint64_t value);

// Hadoop's variable-length integer (WritableUtils.writeVLong): 1 to 9 bytes, small values in one byte.
constexpr size_t kHadoopVintBytesMax = 9;
size_t hadoop_vint_bytes(int64_t value);
// Writes to `to` (room for kHadoopVintBytesMax bytes) and returns the number of bytes used.
size_t store_hadoop_vint(char* to, int64_t value);
void append_hadoop_vint(std::string& to, int64_t value);
// Returns the size of the well-formed integer of that form at `at`, of which the first byte tells it.
inline size_t hadoop_vint_bytes_at(const char* at) {
  const int first = static_cast<int8_t>(*at);
  return first >= -112 ? 1 : static_cast<size_t>(first >= -120 ? -111 - first : -119 - first);
}

// Protobuf's varint of an unsigned value: 1 to 10 bytes. HBase's delta encodings use the same form for
// lengths.
size_t store_varint(char* to, uint64_t value);
void append_varint(std::string& to, uint64_t value);

// ByteReader: takes values off the front of untrusted bytes. A take that does not fit returns false and
// leaves the reader unchanged. It never reads past the end of the bytes. One thread at a time; the views
// it returns live as long as the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool empty() const { return at_ == end_; }
  const char* at() const { return at_; }
  std::string_view rest() const { return {at_, left()}; }

  bool take_u8(uint8_t& value);
  bool take_be16(uint16_t& value);
  bool take_be32(uint32_t& value);
  bool take_be64(uint64_t& value);
  bool take_le32(uint32_t& value);
  bool take_hadoop_vint(int64_t& value);
  bool take_varint(uint64_t& value);  // false too if the varint exceeds 10 bytes or 64 bits
  bool take_bytes(size_t count, std::string_view& bytes);
  bool skip(size_t count);

 private:
  const char* at_;
  const char* end_;
};

}  // namespace cellar
