// Goal: with HBase's settings the writer's bytes are HBase's. Method: the cells of each file in
// tests/data/golden are written again and compared byte by byte. Compressed bytes depend on the library and
// its release. They always differ for LZMA and for ZSTD's large blocks, see the README there. Where they
// differ, the blocks within must not.
#include <gtest/gtest.h>

#include <algorithm>

#include "hfile/codec/codecs.h"
#include "hfile/format/trailer.h"
#include "tests/hfile/golden_cells.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

class GoldenWriter : public ::testing::TestWithParam<GoldenFile> {};

// "offset 4711 of 5143", or "" when equal.
std::string first_difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto at = std::ranges::mismatch(a, b).in1 - a.begin();
  return "offset " + std::to_string(at) + " of " + std::to_string(a.size()) + " and " +
         std::to_string(b.size());
}

void expect_same_blocks(const std::string& ours, const std::string& theirs, uint32_t codec) {
  const std::vector<RawBlock> our_blocks = walk_blocks(ours, codec);
  const std::vector<RawBlock> their_blocks = walk_blocks(theirs, codec);
  ASSERT_EQ(our_blocks.size(), their_blocks.size());
  ASSERT_FALSE(our_blocks.empty());
  for (size_t i = 0; i < our_blocks.size(); ++i) {
    EXPECT_EQ(our_blocks[i].magic, their_blocks[i].magic) << i;
    // Indexes hold places, and those depend on compressed sizes.
    const bool holds_places = our_blocks[i].magic == "IDXROOT2" || our_blocks[i].magic == "BLMFMET2";
    EXPECT_EQ(our_blocks[i].payload.size(), their_blocks[i].payload.size()) << i;
    if (holds_places) continue;
    EXPECT_EQ(first_difference(our_blocks[i].payload, their_blocks[i].payload), "") << i;
  }
}

TEST_P(GoldenWriter, WritesTheSameBytes) {
  const GoldenFile& golden = GetParam();
  const WrittenFile written = write_cells(golden.options, golden_cells(golden), golden_facts());
  const std::string expected = golden_bytes(golden.name);
  const std::string difference = first_difference(written.bytes, expected);
  if (golden.options.compression == "none" || difference.empty()) {
    EXPECT_EQ(difference, "");
    return;
  }
  RecordProperty("compressed_bytes", difference);
  const Result<Trailer> trailer = read_trailer(ViewFile(expected));
  ASSERT_TRUE(trailer.ok());
  expect_same_blocks(written.bytes, expected, trailer->codec);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenWriter, ::testing::ValuesIn(golden_files()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace cellar::testing
