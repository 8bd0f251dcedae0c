// CRC32C (Castagnoli, by ISA-L) and CRC32 (IEEE, by zlib): initial value and final XOR all ones, as HBase
// stores them.
#pragma once

#include <cstdint>
#include <string_view>

namespace cellar {

// The sum of `bytes`, or of all that `before` summed followed by `bytes`. Any thread.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);
uint32_t crc32(std::string_view bytes, uint32_t before = 0);

}  // namespace cellar
