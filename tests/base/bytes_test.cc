// Goal: escapes are reversible and refuse what is malformed; prefixes and units are right at their borders.
#include "base/bytes.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace cellar::testing {

TEST(Bytes, CommonPrefixAtEveryLength) {
  const std::string a(40, 'a');
  for (size_t differs = 0; differs < 40; ++differs) {
    std::string b = a;
    b[differs] = 'b';
    EXPECT_EQ(common_prefix(a, b), differs);
    EXPECT_EQ(common_prefix(b, a), differs);
    EXPECT_EQ(common_prefix(a, std::string_view(a).substr(0, differs)), differs);
  }
  EXPECT_EQ(common_prefix(a, a), 40U);
  EXPECT_EQ(common_prefix("", ""), 0U);
}

TEST(Bytes, EscapesAsHBaseButReversibly) {
  EXPECT_EQ(escaped("row 1~"), "row 1~");
  EXPECT_EQ(escaped(std::string_view("\0\x1f\x7f\xff\\", 5)), "\\x00\\x1F\\x7F\\xFF\\x5C");
  EXPECT_EQ(unescaped("a\\x00b\\xfF").value(), std::string("a\0b\xff", 4));
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  EXPECT_EQ(unescaped(escaped(all)).value(), all);
}

TEST(Bytes, MalformedEscapesNameTheirOffset) {
  for (const char* wrong : {"ab\\", "ab\\x", "ab\\x1", "ab\\xg0", "ab\\x0g", "ab\\n", "ab\\\\"}) {
    const Status status = unescaped(wrong).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << wrong;
    EXPECT_NE(status.message().find("offset 2"), std::string_view::npos) << status.message();
  }
}

TEST(Bytes, EscapeRoundTripsOnRandomBytes) {
  Random random(11);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random.below(30), '\0');
    for (char& c : bytes) c = static_cast<char>(random.next());
    EXPECT_EQ(unescaped(escaped(bytes)).value(), bytes);
  }
}

TEST(Bytes, JsonStringsAreQuoted) {
  std::string text;
  append_json_string(text, std::string_view("a\"\\\n\r\t\x01é", 9));
  EXPECT_EQ(text, "\"a\\\"\\\\\\n\\r\\t\\u0001é\"");
}

TEST(Bytes, PrefixSuccessor) {
  EXPECT_EQ(prefix_successor("abc"), "abd");
  EXPECT_EQ(prefix_successor("ab\xff\xff"), "ac");
  EXPECT_EQ(prefix_successor("\xff\xff"), "");
  EXPECT_EQ(prefix_successor(""), "");
  EXPECT_EQ(prefix_successor("\x7f"), "\x80");
}

TEST(Bytes, UnitsForPeople) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1 KiB");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(1048575), "1 MiB");
  EXPECT_EQ(human_bytes(200 << 20), "200 MiB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "16 EiB");
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1,000");
  EXPECT_EQ(human_count(12345678), "12,345,678");
  EXPECT_EQ(human_micros(0), "0 µs");
  EXPECT_EQ(human_micros(999), "999 µs");
  EXPECT_EQ(human_micros(1500), "1.5 ms");
  EXPECT_EQ(human_micros(999'949), "1000 ms");
  EXPECT_EQ(human_micros(1'200'000), "1.2 s");
  EXPECT_EQ(human_micros(-1500), "-1.5 ms");
  EXPECT_EQ(human_micros(7'200'000'000), "2 h");
  EXPECT_EQ(hex(std::string_view("\x00\xab", 2)), "00ab");
}

}  // namespace cellar::testing
