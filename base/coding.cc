// Variable-length integers and the reader of untrusted bytes.
#include "base/coding.h"

#include <bit>

namespace cellar {

namespace {

template <class T>
void append_raw(std::string& to, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  to.append(raw, sizeof raw);
}

// Returns the number of bytes after the first byte of a Hadoop vint; 0 if the first byte is the value
// itself.
size_t hadoop_vint_extra(int8_t first) {
  if (first >= -112) return 0;
  return static_cast<size_t>(first >= -120 ? -(first + 112) : -(first + 120));
}

}  // namespace

void append_be16(std::string& to, uint16_t value) { append_raw(to, __builtin_bswap16(value)); }
void append_be32(std::string& to, uint32_t value) { append_raw(to, __builtin_bswap32(value)); }
void append_be64(std::string& to, uint64_t value) { append_raw(to, __builtin_bswap64(value)); }
void append_le32(std::string& to, uint32_t value) { append_raw(to, value); }
void append_le64(std::string& to, uint64_t value) { append_raw(to, value); }

size_t hadoop_vint_bytes(int64_t value) {
  if (value >= -112 && value <= 127) return 1;
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  return 1 + (static_cast<size_t>(std::bit_width(magnitude)) + 7) / 8;
}

size_t store_hadoop_vint(char* to, int64_t value) {
  if (value >= -112 && value <= 127) {
    to[0] = static_cast<char>(value);
    return 1;
  }
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const size_t extra = hadoop_vint_bytes(value) - 1;
  to[0] = static_cast<char>((value < 0 ? -120 : -112) - static_cast<int>(extra));
  for (size_t i = 0; i < extra; ++i) to[1 + i] = static_cast<char>(magnitude >> (8 * (extra - 1 - i)));
  return 1 + extra;
}

void append_hadoop_vint(std::string& to, int64_t value) {
  char raw[kHadoopVintBytesMax];
  to.append(raw, store_hadoop_vint(raw, value));
}

size_t store_varint(char* to, uint64_t value) {
  size_t used = 0;
  for (; value >= 0x80; value >>= 7) to[used++] = static_cast<char>(value | 0x80);
  to[used++] = static_cast<char>(value);
  return used;
}

void append_varint(std::string& to, uint64_t value) {
  char raw[10];
  to.append(raw, store_varint(raw, value));
}

bool ByteReader::take_u8(uint8_t& value) {
  if (empty()) return false;
  value = static_cast<uint8_t>(*at_++);
  return true;
}

bool ByteReader::take_be16(uint16_t& value) {
  if (left() < sizeof value) return false;
  value = load_be16(at_);
  at_ += sizeof value;
  return true;
}

bool ByteReader::take_be32(uint32_t& value) {
  if (left() < sizeof value) return false;
  value = load_be32(at_);
  at_ += sizeof value;
  return true;
}

bool ByteReader::take_be64(uint64_t& value) {
  if (left() < sizeof value) return false;
  value = load_be64(at_);
  at_ += sizeof value;
  return true;
}

bool ByteReader::take_le32(uint32_t& value) {
  if (left() < sizeof value) return false;
  value = load_le32(at_);
  at_ += sizeof value;
  return true;
}

bool ByteReader::take_hadoop_vint(int64_t& value) {
  if (empty()) return false;
  const auto first = static_cast<int8_t>(*at_);
  const size_t extra = hadoop_vint_extra(first);
  if (left() < 1 + extra) return false;
  if (extra == 0) {
    value = first;
  } else {
    uint64_t magnitude = 0;
    for (size_t i = 1; i <= extra; ++i) magnitude = magnitude << 8 | static_cast<uint8_t>(at_[i]);
    value = static_cast<int64_t>(first < -120 ? ~magnitude : magnitude);
  }
  at_ += 1 + extra;
  return true;
}

bool ByteReader::take_varint(uint64_t& value) {
  uint64_t taken = 0;
  for (size_t i = 0; i < 10 && i < left(); ++i) {
    const auto byte = static_cast<uint8_t>(at_[i]);
    if (i == 9 && byte > 1) return false;  // the tenth byte holds only the 64th bit
    taken |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      value = taken;
      at_ += i + 1;
      return true;
    }
  }
  return false;
}

bool ByteReader::take_bytes(size_t count, std::string_view& bytes) {
  if (left() < count) return false;
  bytes = {at_, count};
  at_ += count;
  return true;
}

bool ByteReader::skip(size_t count) {
  if (left() < count) return false;
  at_ += count;
  return true;
}

}  // namespace cellar
