// Goal: HBase's Bloom hashes bit for bit, sign-extended tails included; hash64 spreads.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <set>
#include <string>

namespace cellar::testing {

TEST(Hash, HBasesVectors) {
  struct Vector {
    std::string bytes;
    uint32_t murmur_0, murmur_f, murmur3_0, murmur3_1234, jenkins_0, jenkins_1234;
  };
  const Vector vectors[] = {
      {"", 0x00000000, 0xb35966b0, 0x00000000, 0xb4c81a85, 0xdeadbeef, 0xdeadd123},
      {"a", 0x92685f5e, 0x2a874496, 0x3c2569b2, 0x5f8bd2d1, 0x58d68708, 0x0124edbb},
      {"row1", 0x09444512, 0xf5a84738, 0xbcdf3f8b, 0x912d8cbe, 0xe9f826c6, 0xedb4d7b9},
      {"hello\xff", 0xb5e3c700, 0x4b99c667, 0x28c39bba, 0xd46d9439, 0x6c22f4cb, 0x423f7401},
      {"\x80\x81\x82", 0x6f3a2c00, 0x8357962c, 0x7508a955, 0xb0b5d3ec, 0x460db7e7, 0x6dcd4a14},
      {"0123456789abcdef", 0xcf9af71a, 0xaa9574b6, 0x36c7e0df, 0x0b74bab5, 0x68784a2f, 0x85d3deb7},
  };
  for (const Vector& each : vectors) {
    EXPECT_EQ(murmur_hash(each.bytes, 0), each.murmur_0) << each.bytes;
    EXPECT_EQ(murmur_hash(each.bytes, 0xffffffff), each.murmur_f) << each.bytes;
    EXPECT_EQ(murmur3_hash(each.bytes, 0), each.murmur3_0) << each.bytes;
    EXPECT_EQ(murmur3_hash(each.bytes, 0x1234), each.murmur3_1234) << each.bytes;
    EXPECT_EQ(jenkins_hash(each.bytes, 0), each.jenkins_0) << each.bytes;
    EXPECT_EQ(jenkins_hash(each.bytes, 0x1234), each.jenkins_1234) << each.bytes;
    EXPECT_EQ(bloom_hash(BloomHash::kMurmur, each.bytes, 0), each.murmur_0);
    EXPECT_EQ(bloom_hash(BloomHash::kMurmur3, each.bytes, 0), each.murmur3_0);
    EXPECT_EQ(bloom_hash(BloomHash::kJenkins, each.bytes, 0), each.jenkins_0);
  }
}

TEST(Hash, BloomPositionsOfARow) {
  const uint32_t first = murmur_hash("row1", 0);
  const uint32_t second = murmur_hash("row1", first);
  const int64_t expected[] = {279826, 869868, 77590, 23528, 124646, 822812, 326882};
  for (uint32_t i = 0; i < 7; ++i) {
    const auto combined = static_cast<int32_t>(first + i * second);
    EXPECT_EQ(std::llabs(int64_t{combined} % 1048576), expected[i]) << i;
  }
}

TEST(Hash, Hash64TellsAllShortStringsApart) {
  std::set<uint64_t> seen;
  size_t count = 0;
  for (size_t length = 0; length <= 40; ++length) {
    std::string bytes(length, '\0');
    seen.insert(hash64(bytes));
    ++count;
    for (size_t at = 0; at < length; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(1 << bit);
        seen.insert(hash64(changed));
        ++count;
      }
    }
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(Hash, Hash64SpreadsEveryBit) {
  int64_t ones[64] = {};
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    const uint64_t hash = hash64("row" + std::to_string(i));
    for (int bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int64_t>(hash >> bit & 1);
  }
  for (const int64_t each : ones) EXPECT_NEAR(static_cast<double>(each), kCount / 2.0, kCount * 0.02);
}

}  // namespace cellar::testing
