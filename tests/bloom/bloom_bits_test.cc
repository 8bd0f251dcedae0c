// Goal: positions, sizes and folding are HBase's, and no inserted key is ever denied.
// Method: known positions, sizes and chunks of HBase's own code; then random keys against every size.
#include "bloom/bloom_bits.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/plugins.h"
#include "base/random.h"
#include "cell/cell_codec.h"
#include "cellar/bloom_type.h"

namespace cellar::testing {
namespace {

constexpr std::array kHashes = {BloomHash::kJenkins, BloomHash::kMurmur, BloomHash::kMurmur3};

BloomShape default_shape() { return bloom_shape(131072, 0.01f, 7); }

TEST(BloomBits, SizesAreHBases) {
  const BloomShape row = default_shape();
  EXPECT_EQ(row.bytes, 131072u);
  EXPECT_EQ(row.keys_max, 109306u);
  EXPECT_EQ(row.hashes, 7u);
  const BloomShape column = bloom_shape(131072, static_cast<float>(1 - std::sqrt(1 - double{0.01f})), 7);
  EXPECT_EQ(column.keys_max, 95069u);
  EXPECT_EQ(column.hashes, 8u);
  EXPECT_EQ(bloom_shape(64, 0.01f, 7).bytes, 128u);
  EXPECT_EQ(bloom_shape(129, 0.01f, 7).bytes, 256u);
  EXPECT_EQ(bloom_shape(1, 0.01f, 0).keys_max, 0u) << "no room for a key";
}

TEST(BloomBits, PositionsAreHBases) {
  const BloomHashes hashes = bloom_hashes(BloomHash::kMurmur, "row1");
  std::vector<uint32_t> positions;
  for (uint32_t i = 0; i < 7; ++i) positions.push_back(bloom_position(hashes, i, 1048576));
  EXPECT_EQ(positions, (std::vector<uint32_t>{279826, 869868, 77590, 23528, 124646, 822812, 326882}));
}

// The remainder of a negative number, made positive, also for the most negative one and sizes that are no
// power of two.
TEST(BloomBits, PositionsFollowSignedArithmetic) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    BloomHashes hashes{static_cast<uint32_t>(random.next()), static_cast<uint32_t>(random.next())};
    if (random.one_in(10)) hashes = {0x80000000u, 0};
    const uint32_t bits = static_cast<uint32_t>(8 * (1 + random.below(random.one_in(2) ? 100 : 1 << 22)));
    const uint32_t k = static_cast<uint32_t>(random.below(32));
    const int64_t combined = static_cast<int32_t>(hashes.first + k * hashes.second);
    const int64_t remainder = combined % static_cast<int64_t>(bits);
    EXPECT_EQ(bloom_position(hashes, k, bits), static_cast<uint32_t>(remainder < 0 ? -remainder : remainder));
  }
}

TEST(BloomBits, FoldedChunksAreHBases) {
  const std::array expected = {"5083411e", "44114414", "a7a02a12"};
  for (size_t i = 0; i < kHashes.size(); ++i) {
    BloomBits bits(default_shape());
    bits.add(bloom_hashes(kHashes[i], "row1"));
    bits.add(bloom_hashes(kHashes[i], "row2"));
    bits.fold();
    EXPECT_EQ(hex(bits.bytes()), expected[i]);
  }
  // From a file that HBase 0.94 wrote.
  BloomBits bits(default_shape());
  for (const char* row : {"@ns", "foo2", "ns:bar", "ns:t1", "t1"}) {
    bits.add(bloom_hashes(BloomHash::kMurmur, row));
  }
  bits.fold();
  EXPECT_EQ(hex(bits.bytes()), "8109dd00739140fd");
  EXPECT_EQ(bits.keys_max(), 6u);
}

TEST(BloomBits, HoldsEveryKeyAtEveryFill) {
  Random random(2);
  for (const BloomHash hash : kHashes) {
    for (const uint32_t bytes : {1u, 96u, 100u, 1000u, 4096u}) {
      const BloomShape shape = bloom_shape(bytes, 0.02f, static_cast<uint32_t>(random.below(6)));
      if (shape.keys_max == 0) continue;
      for (uint32_t keys = 1; keys <= shape.keys_max; keys = keys * 2 + 1) {
        BloomBits bits(shape);
        std::vector<std::string> inserted;
        for (uint32_t i = 0; i < keys; ++i) {
          inserted.push_back(std::to_string(random.next()).substr(random.below(10)));
          bits.add(bloom_hashes(hash, inserted.back()));
        }
        bits.fold();
        EXPECT_LE(bits.bytes().size(), shape.bytes);
        for (const std::string& key : inserted) {
          EXPECT_TRUE(bloom_may_contain(bits.bytes(), shape.hashes, bloom_hashes(hash, key)));
        }
      }
    }
  }
}

TEST(BloomBits, KeepsItsErrorRate) {
  for (const BloomHash hash : kHashes) {
    const BloomShape shape = bloom_shape(8192, 0.01f, 7);
    BloomBits bits(shape);
    for (uint32_t i = 0; i < shape.keys_max; ++i) bits.add(bloom_hashes(hash, "in" + std::to_string(i)));
    bits.fold();
    int wrong = 0;
    for (int i = 0; i < 20000; ++i) {
      wrong += bloom_may_contain(bits.bytes(), shape.hashes, bloom_hashes(hash, "out" + std::to_string(i)));
    }
    EXPECT_GT(wrong, 100);
    EXPECT_LT(wrong, 300);  // 200 expected
  }
}

TEST(BloomBits, AnEmptyChunkIsNotFolded) {
  BloomBits bits(default_shape());
  bits.fold();
  EXPECT_EQ(bits.bytes(), std::string(131072, '\0'));
  EXPECT_FALSE(bloom_may_contain(bits.bytes(), 7, bloom_hashes(BloomHash::kMurmur, "row1")));
}

TEST(BloomTypes, RowHashesTheRow) {
  register_bloom_plugins();
  const std::unique_ptr<BloomType> type = Registry<BloomType>::instance().make("row").value();
  EXPECT_EQ(type->name(), "ROW");
  std::string key = "old";
  EXPECT_TRUE(type->key_of_row("r", key));
  EXPECT_EQ(key, "r");
  const std::string flat("\0\3rowf", 6);
  CellView cell;
  cell.key = flat.data();
  cell.row_size = 3;
  EXPECT_EQ(type->key_of(cell, key), "row");
  EXPECT_FALSE(Registry<BloomType>::instance().make("row(size=3)").ok());
}

TEST(BloomTypes, RowColumnCannotAnswerForARow) {
  register_bloom_plugins();
  const std::unique_ptr<BloomType> type = Registry<BloomType>::instance().make("rowcol").value();
  EXPECT_EQ(type->name(), "ROWCOL");
  std::string key;
  EXPECT_FALSE(type->key_of_row("r", key));
  const std::string flat("\0\1r\1fq\0\0\0\0\0\0\0\5\4", 15);
  CellView cell;
  ASSERT_TRUE(parse_flat_key(flat.data(), flat.size(), cell));
  EXPECT_EQ(hex(type->key_of(cell, key)), "00017200717fffffffffffffffff");
}

}  // namespace
}  // namespace cellar::testing
