// CRC32C by ISA-L and CRC32 by zlib, with the conventions HBase stores.
#include "base/checksum.h"

#include <isa-l/crc.h>
#include <zlib.h>

#include <algorithm>

namespace cellar {

uint32_t crc32c(std::string_view bytes, uint32_t before) {
  // ISA-L works on the bare register: this function adds the all-ones start and the final XOR. ISA-L's
  // length is an int.
  constexpr size_t kPieceBytes = size_t{1} << 30;
  uint32_t sum = ~before;
  while (!bytes.empty()) {
    const size_t piece = std::min(bytes.size(), kPieceBytes);
    auto* start = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));  // ISA-L only reads
    sum = crc32_iscsi(start, static_cast<int>(piece), sum);
    bytes.remove_prefix(piece);
  }
  return ~sum;
}

uint32_t crc32(std::string_view bytes, uint32_t before) {
  if (bytes.empty()) return before;  // zlib starts anew when the pointer is null
  return static_cast<uint32_t>(
      ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace cellar
