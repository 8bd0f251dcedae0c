// Goal: integers have HBase's and protobuf's bytes, come back as they were, and a reader never leaves its
// bytes.
#include "base/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"

namespace cellar::testing {

namespace {

std::string hadoop(int64_t value) {
  std::string bytes;
  append_hadoop_vint(bytes, value);
  EXPECT_EQ(bytes.size(), hadoop_vint_bytes(value)) << value;
  EXPECT_EQ(bytes.size(), hadoop_vint_bytes_at(bytes.data())) << value;
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  append_varint(bytes, value);
  return bytes;
}

// Values around each power of two, where lengths change.
std::vector<uint64_t> border_values() {
  std::vector<uint64_t> values = {0, UINT64_MAX};
  for (int bit = 0; bit < 64; ++bit) {
    for (const int64_t by : {-1, 0, 1}) values.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(by));
  }
  return values;
}

}  // namespace

TEST(Coding, FixedIntegersHaveTheirOrder) {
  std::string bytes;
  append_be16(bytes, 0x0102);
  append_be32(bytes, 0x01020304);
  append_be64(bytes, 0x0102030405060708);
  append_le32(bytes, 0x01020304);
  append_le64(bytes, 0x0102030405060708);
  EXPECT_EQ(hex(bytes),
            "0102"
            "01020304"
            "0102030405060708"
            "04030201"
            "0807060504030201");
  ByteReader reader(bytes);
  uint16_t two = 0;
  uint32_t four = 0;
  uint64_t eight = 0;
  EXPECT_TRUE(reader.take_be16(two));
  EXPECT_EQ(two, 0x0102);
  EXPECT_TRUE(reader.take_be32(four));
  EXPECT_EQ(four, 0x01020304U);
  EXPECT_TRUE(reader.take_be64(eight));
  EXPECT_EQ(eight, 0x0102030405060708U);
  EXPECT_TRUE(reader.take_le32(four));
  EXPECT_EQ(four, 0x01020304U);
  EXPECT_EQ(hex(reader.rest()), "0807060504030201");
}

TEST(Coding, HadoopVintHasHadoopsBytes) {
  const std::pair<int64_t, const char*> known[] = {
      {0, "00"},
      {127, "7f"},
      {128, "8f80"},
      {255, "8fff"},
      {256, "8e0100"},
      {300, "8e012c"},
      {65535, "8effff"},
      {int64_t{1} << 40, "8a010000000000"},
      {-1, "ff"},
      {-112, "90"},
      {-113, "8770"},
      {-256, "87ff"},
      {-257, "860100"},
      {std::numeric_limits<int64_t>::max(), "887fffffffffffffff"},
      {std::numeric_limits<int64_t>::min(), "807fffffffffffffff"},
  };
  for (const auto& [value, bytes] : known) EXPECT_EQ(hex(hadoop(value)), bytes) << value;
}

TEST(Coding, VintsComeBack) {
  for (const uint64_t value : border_values()) {
    for (const int64_t signed_value : {static_cast<int64_t>(value), -static_cast<int64_t>(value >> 1)}) {
      const std::string bytes = hadoop(signed_value);
      ByteReader reader(bytes);
      int64_t back = 0;
      EXPECT_TRUE(reader.take_hadoop_vint(back));
      EXPECT_EQ(back, signed_value);
      EXPECT_TRUE(reader.empty());
    }
    const std::string bytes = varint(value);
    ByteReader reader(bytes);
    uint64_t back = 0;
    EXPECT_TRUE(reader.take_varint(back));
    EXPECT_EQ(back, value);
    EXPECT_TRUE(reader.empty());
  }
}

TEST(Coding, VarintRefusesWhatIsTooLong) {
  uint64_t value = 7;
  for (const std::string& bytes :
       {std::string(10, '\xff'), std::string(11, '\x80'), std::string(9, '\x80') + "\x02"}) {
    ByteReader reader(bytes);
    EXPECT_FALSE(reader.take_varint(value)) << hex(bytes);
    EXPECT_EQ(reader.left(), bytes.size());
  }
  EXPECT_EQ(value, 7U);
}

TEST(ByteReader, ATakeThatDoesNotFitChangesNothing) {
  const std::string whole = hadoop(int64_t{1} << 60) + varint(UINT64_MAX);
  for (size_t length = 0; length < 9; ++length) {
    const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));  // for ASan
    ByteReader reader(std::string_view(exact.data(), exact.size()));
    int64_t vint = 5;
    EXPECT_FALSE(reader.take_hadoop_vint(vint));
    uint64_t eight = 5;
    EXPECT_EQ(reader.take_be64(eight), length >= 8);
  }
  const char bytes[] = {1, 2, 3};
  ByteReader reader(std::string_view(bytes, 3));
  uint32_t four = 9;
  uint64_t eight = 9;
  std::string_view taken;
  EXPECT_FALSE(reader.take_be32(four));
  EXPECT_FALSE(reader.take_le32(four));
  EXPECT_FALSE(reader.take_be64(eight));
  EXPECT_FALSE(reader.take_bytes(4, taken));
  EXPECT_FALSE(reader.take_bytes(SIZE_MAX, taken));
  EXPECT_FALSE(reader.skip(4));
  EXPECT_EQ(four, 9U);
  EXPECT_EQ(reader.left(), 3U);
  EXPECT_TRUE(reader.take_bytes(2, taken));
  EXPECT_EQ(taken, "\x01\x02");
  EXPECT_EQ(reader.rest(), "\x03");
  EXPECT_TRUE(reader.skip(1));
  uint8_t one = 9;
  uint16_t two = 9;
  EXPECT_FALSE(reader.take_u8(one));
  EXPECT_FALSE(reader.take_be16(two));
}

TEST(ByteReader, NeverLeavesRandomBytes) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    std::vector<char> bytes(random.below(12));
    for (char& c : bytes) c = static_cast<char>(random.next());
    ByteReader reader(std::string_view(bytes.data(), bytes.size()));
    int64_t vint = 0;
    uint64_t value = 0;
    while (!reader.empty()) {
      const size_t before = reader.left();
      const bool taken = random.one_in(2) ? reader.take_hadoop_vint(vint) : reader.take_varint(value);
      EXPECT_EQ(taken, reader.left() < before);
      if (!taken) break;
    }
  }
}

}  // namespace cellar::testing
