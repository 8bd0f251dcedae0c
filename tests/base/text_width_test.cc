// Goal: text takes the columns that a terminal gives it, and no byte of a key can drive the terminal or hide.
// Method: known characters of each kind, all code points, and random bytes read back.
#include "base/text_width.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"
#include "base/utf8.h"

namespace cellar {
namespace {

TEST(TextWidth, OfCharactersOfEachKind) {
  EXPECT_EQ(text_width("Zürich"), 6u);
  EXPECT_EQ(text_width("東京"), 4u);
  EXPECT_EQ(text_width("한글"), 4u);
  EXPECT_EQ(text_width("e\xCC\x81"), 1u) << "e and a combining acute";
  EXPECT_EQ(text_width("😀"), 2u);
  EXPECT_EQ(text_width("│─█▌…"), 5u);
  EXPECT_EQ(text_width("a\xFF\xFE"), 3u) << "not UTF-8";
  EXPECT_EQ(text_width(""), 0u);
}

TEST(TextWidth, EveryCodePointHasAKind) {
  size_t kinds[4] = {};
  for (uint32_t code = 0; code < 0x110000; ++code) ++kinds[static_cast<size_t>(character_kind(code))];
  for (const size_t count : kinds) EXPECT_GT(count, 1000u);
  for (const uint32_t hidden : {0x0u, 0x9u, 0x1Bu, 0x7Fu, 0x9Bu, 0xA0u, 0xADu, 0x200Bu, 0x200Eu, 0x2028u,
                                0x202Eu, 0x2066u, 0xFEFFu, 0xE000u, 0xE0001u, 0xFFFFu, 0x10FFFFu})
    EXPECT_EQ(character_kind(hidden), CharacterKind::kUnprintable) << std::hex << hidden;
}

TEST(TextWidth, CutsBetweenCharacters) {
  EXPECT_EQ(first_columns("東京x", 3), "東");
  EXPECT_EQ(first_columns("e\xCC\x81x", 1), "e\xCC\x81");
  EXPECT_EQ(last_columns("x東京", 3), "京");
  EXPECT_EQ(last_columns("e\xCC\x81x", 1), "x");
  std::string text = "東京都";
  cut_to_columns(text, 6);
  EXPECT_EQ(text, "東京都");
  cut_to_columns(text, 5);
  EXPECT_EQ(text, "東京…");
  cut_to_columns(text, 4);
  EXPECT_EQ(text, "東…");
  cut_to_columns(text, 0);
  EXPECT_EQ(text, "");
}

TEST(TextWidth, ReadableShowsTextAndEscapesTheRest) {
  EXPECT_EQ(readable("Zürich 東京"), "Zürich 東京");
  EXPECT_EQ(readable("a\\b"), "a\\x5Cb");
  EXPECT_EQ(readable(std::string_view("a\0\xFFz", 4)), "a\\x00\\xFFz");
  EXPECT_EQ(readable("\xE2\x80\xAE"
                     "abc\xC2\x9B"),
            "\\xE2\\x80\\xAE"
            "abc\\xC2\\x9B");
  EXPECT_EQ(readable("\xCC\x81"
                     "e\xCC\x81"),
            "\\xCC\\x81"
            "e\xCC\x81")
      << "a mark must not sit on a neighbour";
}

TEST(TextWidth, ReadableCanBeReadBack) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (uint64_t left = random.below(12); left > 0; --left) {
      if (random.below(2) == 0)
        bytes += static_cast<char>(random.below(256));
      else
        append_utf8(bytes, static_cast<uint32_t>(random.below(0xD800)));
    }
    const std::string shown = readable(bytes);
    EXPECT_EQ(unescaped(shown).value(), bytes);
    EXPECT_TRUE(is_utf8(shown)) << shown;
    EXPECT_EQ(escaped_controls(shown), shown);
  }
}

}  // namespace
}  // namespace cellar
