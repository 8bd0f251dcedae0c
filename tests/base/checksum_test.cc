// Goal: both sums have their published values, can be computed in pieces, and slow nothing down after them.
#include "base/checksum.h"

#include <gtest/gtest.h>

#include <array>
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

#if defined(__x86_64__)
// Stores the upper halves of the first 16 vector registers.
__attribute__((target("avx"), noinline)) void read_upper_halves(std::array<std::array<char, 16>, 16>& to) {
#define CELLAR_READ_UPPER(n) asm volatile("vextractf128 $1, %%ymm" #n ", %0" : "=m"(to[n]))
  CELLAR_READ_UPPER(0);
  CELLAR_READ_UPPER(1);
  CELLAR_READ_UPPER(2);
  CELLAR_READ_UPPER(3);
  CELLAR_READ_UPPER(4);
  CELLAR_READ_UPPER(5);
  CELLAR_READ_UPPER(6);
  CELLAR_READ_UPPER(7);
  CELLAR_READ_UPPER(8);
  CELLAR_READ_UPPER(9);
  CELLAR_READ_UPPER(10);
  CELLAR_READ_UPPER(11);
  CELLAR_READ_UPPER(12);
  CELLAR_READ_UPPER(13);
  CELLAR_READ_UPPER(14);
  CELLAR_READ_UPPER(15);
#undef CELLAR_READ_UPPER
}

// Sets them, so that the test can tell that they are cleared.
__attribute__((target("avx"), noinline)) void fill_upper_halves() {
  asm volatile(
      "vcmpeqps %%xmm0, %%xmm0, %%xmm0\n vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0\n"
      "vinsertf128 $1, %%xmm0, %%ymm7, %%ymm7" ::
          : "xmm0", "xmm7");
}

// Values in them make all later code slow on many processors. No other test would notice.
TEST(Checksum, LeavesTheUpperHalvesOfVectorRegistersClear) {
  if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "this processor has no wide vector registers";
  std::array<std::array<char, 16>, 16> upper{};
  fill_upper_halves();
  read_upper_halves(upper);
  EXPECT_NE(upper[7], (std::array<char, 16>{}));
  for (const size_t size : {1, 8, 40, 150, 4096, 100'000}) {
    const std::string bytes(size, 'x');
    static_cast<void>(crc32c(bytes));
    read_upper_halves(upper);
    for (size_t i = 0; i < upper.size(); ++i)
      EXPECT_EQ(upper[i], (std::array<char, 16>{})) << "register " << i << " after " << size << " bytes";
  }
}
#endif

}  // namespace cellar::testing
