// CRC32C (Castagnoli, by ISA-L) and CRC32 (IEEE, by zlib): initial value and final XOR all ones, as HBase
// stores them.
#pragma once

#include <cstdint>
#include <string_view>

namespace cellar {

// Returns the checksum of `bytes`, or that of the bytes summed in `before` followed by `bytes`. Any
// thread.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);
uint32_t crc32(std::string_view bytes, uint32_t before = 0);

}  // namespace cellar
