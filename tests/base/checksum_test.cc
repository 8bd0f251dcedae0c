// Goal: both sums have their published values and can be computed in pieces.
#include "base/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace cellar::testing {

TEST(Checksum, PublishedValues) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(Checksum, PiecesAddUp) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>(i * 7));
  for (size_t cut = 0; cut <= bytes.size(); cut += 37) {
    const std::string_view first = std::string_view(bytes).substr(0, cut);
    const std::string_view second = std::string_view(bytes).substr(cut);
    EXPECT_EQ(crc32c(second, crc32c(first)), crc32c(bytes));
    EXPECT_EQ(crc32(second, crc32(first)), crc32(bytes));
  }
}

TEST(Checksum, AnyAlignmentGivesTheSameSum) {
  const std::string bytes(300, 'x');
  const std::string padded = "12345678" + bytes;
  for (size_t shift = 0; shift < 8; ++shift) {
    const std::string moved = padded.substr(8 - shift);
    EXPECT_EQ(crc32c(std::string_view(moved).substr(shift)), crc32c(bytes));
  }
}

}  // namespace cellar::testing
