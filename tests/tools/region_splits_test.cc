// Goal: regions of equal ranges begin where HBase's RegionSplitter has them begin. Method: rows that its
// tests name, and rows worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/store/region_splits.h"

namespace cellar::testing {
namespace {

using Rows = std::vector<std::string>;

std::string eight(char byte) { return std::string(8, byte); }
std::string eight_from(char first) { return first + std::string(7, '\0'); }

TEST(RegionSplits, HexStringSplitHasLowerCaseDigits) {
  EXPECT_EQ(region_splits(2, SplitBy::kHex).value(), Rows{"80000000"});
  EXPECT_EQ(region_splits(3, SplitBy::kHex).value(), (Rows{"55555555", "aaaaaaaa"}));
  EXPECT_EQ(region_splits(4, SplitBy::kHex).value(), (Rows{"40000000", "80000000", "c0000000"}));
  // 2^32 / 15 = 0x11111111, 1 is left; 2^32 / 4096 = 0x100000.
  EXPECT_EQ(region_splits(15, SplitBy::kHex).value(),
            (Rows{"11111111", "22222222", "33333333", "44444444", "55555555", "66666666", "77777777",
                  "88888888", "99999999", "aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee"}));
  const Rows many = region_splits(4096, SplitBy::kHex).value();
  EXPECT_EQ(many.front(), "00100000");
  EXPECT_EQ(many.back(), "fff00000");
}

TEST(RegionSplits, UniformSplitHasEightBytes) {
  EXPECT_EQ(region_splits(2, SplitBy::kUniform).value(), Rows{eight_from('\x80')});
  EXPECT_EQ(region_splits(3, SplitBy::kUniform).value(), (Rows{eight('\x55'), eight('\xAA')}));
  EXPECT_EQ(region_splits(4, SplitBy::kUniform).value(),
            (Rows{eight_from('\x40'), eight_from('\x80'), eight_from('\xC0')}));
  const Rows sixteen = region_splits(16, SplitBy::kUniform).value();
  ASSERT_EQ(sixteen.size(), 15u);
  for (size_t i = 0; i < sixteen.size(); ++i)
    EXPECT_EQ(sixteen[i], eight_from(static_cast<char>((i + 1) << 4))) << i;
  // 2^64 / 5 = 0x3333333333333333, 1 is left.
  EXPECT_EQ(region_splits(5, SplitBy::kUniform).value(),
            (Rows{eight('\x33'), eight('\x66'), eight('\x99'), eight('\xCC')}));
  // 2^64 / 10 = 0x1999999999999999, 6 are left; twice this is 0x3333333333333332.
  EXPECT_EQ(region_splits(10, SplitBy::kUniform).value()[0], "\x19" + std::string(7, '\x99'));
  EXPECT_EQ(region_splits(10, SplitBy::kUniform).value()[1], std::string(7, '\x33') + '\x32');
}

TEST(RegionSplits, DecimalStringSplitHasEightDigits) {
  EXPECT_EQ(region_splits(4, SplitBy::kDecimal).value(), (Rows{"25000000", "50000000", "75000000"}));
  EXPECT_EQ(region_splits(3, SplitBy::kDecimal).value(), (Rows{"33333333", "66666666"}));
  // 10^8 / 7 = 14285714, 2 are left.
  EXPECT_EQ(region_splits(7, SplitBy::kDecimal).value(),
            (Rows{"14285714", "28571428", "42857142", "57142856", "71428570", "85714284"}));
  EXPECT_EQ(region_splits(1000, SplitBy::kDecimal).value().front(), "00100000");
}

TEST(RegionSplits, TheRowsOfTheMostRegionsRiseAndDiffer) {
  for (const SplitBy by : {SplitBy::kHex, SplitBy::kUniform, SplitBy::kDecimal}) {
    const Rows rows = region_splits(kRegionsMax, by).value();
    EXPECT_EQ(rows.size(), kRegionsMax - 1);
    EXPECT_EQ(std::ranges::adjacent_find(rows, std::ranges::greater_equal()), rows.end());
    EXPECT_TRUE(std::ranges::all_of(rows, [](const std::string& row) { return row.size() == 8; }));
  }
}

TEST(RegionSplits, ANumberOutOfRangeIsRefused) {
  for (const uint64_t regions : {uint64_t{0}, uint64_t{1}, kRegionsMax + 1, UINT64_MAX}) {
    const Status refused = region_splits(regions, SplitBy::kHex).status();
    EXPECT_TRUE(refused.is(Code::kInvalidArgument)) << regions;
    EXPECT_EQ(refused.message(),
              "the number of regions is " + std::to_string(regions) + ", and must be from 2 to 100000");
  }
}

TEST(RegionSplits, AlgorithmsHaveTwoNames) {
  EXPECT_EQ(parse_split_by("hex").value(), SplitBy::kHex);
  EXPECT_EQ(parse_split_by("HexStringSplit").value(), SplitBy::kHex);
  EXPECT_EQ(parse_split_by("uniform").value(), SplitBy::kUniform);
  EXPECT_EQ(parse_split_by("UniformSplit").value(), SplitBy::kUniform);
  EXPECT_EQ(parse_split_by("decimal").value(), SplitBy::kDecimal);
  EXPECT_EQ(parse_split_by("DecimalStringSplit").value(), SplitBy::kDecimal);
  EXPECT_EQ(parse_split_by("unifrom").status().hint(), "did you mean uniform?");
  EXPECT_EQ(parse_split_by("HexStrngSplit").status().hint(), "did you mean HexStringSplit?");
  const Status unknown = parse_split_by("org.x.Other").status();
  EXPECT_TRUE(unknown.is(Code::kInvalidArgument));
  EXPECT_EQ(unknown.message(), "unknown split algorithm \"org.x.Other\"");
  EXPECT_NE(unknown.hint().find("DecimalStringSplit"), std::string::npos);
}

}  // namespace
}  // namespace cellar::testing
