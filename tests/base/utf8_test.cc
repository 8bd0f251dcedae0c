// Goal: bytes fall into characters, beginnings of characters and lone bytes as the Unicode standard says.
// Method: the borders of each length; every character there and back.
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace cellar::testing {
namespace {

TEST(Utf8, PiecesAreCharactersOrTheirBeginnings) {
  const auto piece = [](std::string_view bytes) {
    const Utf8Piece found = utf8_piece(bytes);
    return std::to_string(found.bytes) + (found.whole ? " whole" : found.open ? " open" : " broken");
  };
  EXPECT_EQ(piece("ab"), "1 whole");
  EXPECT_EQ(piece("\xC3\xA9z"), "2 whole");
  EXPECT_EQ(piece("\xC3"), "1 open");
  EXPECT_EQ(piece("\xC3z"), "1 broken");
  EXPECT_EQ(piece("\xA9"), "1 broken");
  EXPECT_EQ(piece("\xC0\x80"), "1 broken") << "a longer form than needed";
  EXPECT_EQ(piece("\xED\xA0\x80"), "1 broken") << "a surrogate";
  EXPECT_EQ(piece("\xE2\x82"), "2 open");
  EXPECT_EQ(piece("\xE2\x82z"), "2 broken");
  EXPECT_EQ(piece("\xF0\x9F\x98\x80"), "4 whole");
  EXPECT_EQ(piece("\xF4\x90"), "1 broken") << "beyond U+10FFFF";
}

TEST(Utf8, EveryCharacterComesBack) {
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string bytes;
    append_utf8(bytes, code);
    ASSERT_TRUE(is_utf8(bytes)) << code;
    ASSERT_EQ(utf8_piece(bytes).bytes, bytes.size()) << code;
    ASSERT_EQ(utf8_code(bytes), code);
    ASSERT_EQ(utf8_length(bytes), 1u) << code;
  }
}

TEST(Utf8, WhatIsShownIsWellFormedAndHarmless) {
  EXPECT_EQ(printable_utf8("a\tä\x7F\xC2\x9B€\x1B[\n"), "a ä  € [ ");
  EXPECT_EQ(printable_utf8("\xFFx\xC3\xE2\x82\xA4\x80"), "\xEF\xBF\xBDx\xEF\xBF\xBD\xE2\x82\xA4\xEF\xBF\xBD");
  EXPECT_EQ(escaped_controls("a\tä\n\x7F\xC2\x9B€\x1B[2J\xFF\\"), "a\tä\n\\x7F\\xC2\\x9B€\\x1B[2J\\xFF\\");
}

}  // namespace
}  // namespace cellar::testing
