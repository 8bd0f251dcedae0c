// Goal: the counts are right at every place, few, even, and nothing malformed is believed. Method: so many
// blocks of known content; every change of a byte and every cut of an encoded text.
#include "hfile/read/cell_counts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace cellar {
namespace {

std::vector<CellCount> blocks_of(uint64_t blocks, uint64_t seed) {
  Random random(seed);
  std::vector<CellCount> counts;
  CellCount at;
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t cells = 1 + random.below(900);
    at.end += 33 + random.below(70'000);
    at.cells += cells;
    at.rows += random.below(cells + 1);
    counts.push_back(at);
  }
  return counts;
}

std::string encoded(const std::vector<CellCount>& counts) {
  CellCountsWriter writer;
  for (const CellCount& each : counts) writer.add(each);
  return writer.encode();
}

TEST(CellCounts, AreRightFewAndEven) {
  for (const uint64_t blocks : {1u, 2u, 63u, 64u, 127u, 128u, 129u, 255u, 256u, 1'000u, 100'003u}) {
    const std::vector<CellCount> all = blocks_of(blocks, blocks);
    const CellCount& last = all.back();
    std::vector<CellCount> kept(1);
    ASSERT_TRUE(parse_cell_counts(encoded(all), last.end, last.cells, kept)) << blocks;
    EXPECT_LE(kept.size(), 1 + CellCountsWriter::kPlacesMax);
    size_t before = 0;
    for (const CellCount& each : kept) {
      if (each.end == 0) continue;
      const auto real = std::ranges::find(all, each.end, &CellCount::end);
      ASSERT_NE(real, all.end());
      EXPECT_EQ(each.cells, real->cells);
      EXPECT_EQ(each.rows, real->rows);
      const auto number = static_cast<size_t>(real - all.begin()) + 1;
      EXPECT_LE(number - before, 1 + blocks / 64) << "places lie unevenly";
      before = number;
    }
    EXPECT_EQ(kept.back().rows, last.rows);
  }
  EXPECT_EQ(encoded({}), "");
}

TEST(CellCounts, NothingMalformedIsBelieved) {
  const std::vector<CellCount> all = blocks_of(20, 1);
  const CellCount last = all.back();
  const std::string text = encoded(all);
  const auto parses = [&](std::string_view changed, uint64_t end, uint64_t cells) {
    std::vector<CellCount> kept(1);
    const bool ok = parse_cell_counts(changed, end, cells, kept);
    if (ok) {
      EXPECT_LE(kept.back().rows, kept.back().cells);
    }
    return ok;
  };
  EXPECT_TRUE(parses(text, last.end, last.cells));
  EXPECT_FALSE(parses(text, last.end - 1, last.cells));
  EXPECT_FALSE(parses(text, last.end + 1, last.cells));
  EXPECT_FALSE(parses(text, last.end, last.cells - 1));
  EXPECT_FALSE(parses(text, last.end, last.cells + 1));
  for (size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(parses(std::string_view(text).substr(0, bytes), last.end, last.cells)) << bytes;
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      parses(changed, last.end, last.cells);  // another number of rows may pass: a checksum guards the text
    }
  }
  std::string many(1, 1);
  for (int i = 0; i < 1'000; ++i) many += std::string("\x01\x01\x01", 3);
  EXPECT_FALSE(parses(many, 1'000, 1'000)) << "more places than are ever written";
}

}  // namespace
}  // namespace cellar
