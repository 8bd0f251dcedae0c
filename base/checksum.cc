// CRC32C by ISA-L and CRC32 by zlib, with the conventions HBase stores.
#include "base/checksum.h"

#include <isa-l/crc.h>
#include <zlib.h>

#include <algorithm>

namespace cellar {
namespace {

// ISA-L leaves values in the upper halves of the vector registers. On processors of Intel, each later change
// between wide instructions and ours, which use the lower halves only, then takes some 200 cycles.
#if defined(__x86_64__)
__attribute__((target("avx"))) void clear() { __builtin_ia32_vzeroupper(); }

void clear_upper_halves() {
  if (__builtin_cpu_supports("avx")) clear();
}
#else
void clear_upper_halves() {}
#endif

}  // namespace

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
  clear_upper_halves();
  return ~sum;
}

uint32_t crc32(std::string_view bytes, uint32_t before) {
  if (bytes.empty()) return before;  // zlib starts anew when the pointer is null
  return static_cast<uint32_t>(
      ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace cellar
