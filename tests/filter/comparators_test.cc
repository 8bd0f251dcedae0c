// Goal: comparators of text take letters and bytes as HBase's do. Method: given and stored texts, in UTF-8
// and not, and what the comparison says.
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "cellar/filter.h"

namespace cellar::testing {
namespace {

bool contains(std::string_view stored, std::string_view text) {
  return passes(CompareOp::kEqual, *substring(text), stored);
}
bool matches(std::string_view stored, std::string_view expression) {
  return passes(CompareOp::kEqual, *regex(expression).value(), stored);
}

TEST(Substring, TakesUpperAndLowerCaseAsTheSame) {
  EXPECT_TRUE(contains("Some MAIL here", "mail"));
  EXPECT_TRUE(contains("some mail here", "MAIL"));
  EXPECT_TRUE(contains("", ""));
  EXPECT_TRUE(contains("zwei Äpfel", "äPFEL"));
  EXPECT_TRUE(contains("zwei äpfel", "ÄPFEL"));
  EXPECT_TRUE(contains("ΠΑΡΑΔΕΙΓΜΑ", "παραδειγμα"));
  EXPECT_FALSE(contains("zwei Apfel", "äpfel"));
  EXPECT_FALSE(contains("axb", "ä.b")) << "it is no expression";
  EXPECT_TRUE(contains("Ä.B", "ä.b"));
}

TEST(Substring, FindsItsTextBesideBytesThatAreNoUtf8) {
  EXPECT_TRUE(contains("\xff\xfeMail\xff", "mail"));
  EXPECT_TRUE(contains("\xff\xc3\x84pfel\xff", "äpfel"));
  EXPECT_TRUE(
      contains("a\xff\xfe"
               "b",
               "\xff\xfe"
               "B"))
      << "a text that is no UTF-8 is bytes";
  EXPECT_FALSE(
      contains("a\xff"
               "b",
               "\xfe"));
}

TEST(Regex, TakesBytesThatAreNoUtf8AsReplacementCharacters) {
  EXPECT_TRUE(
      matches("\xff"
              "b",
              "^.b$"));
  EXPECT_TRUE(matches("ab", "^.b$"));
  EXPECT_TRUE(
      matches("\xc3\xa4"
              "b",
              "^.b$"))
      << "one letter of two bytes";
  EXPECT_FALSE(
      matches("\xff\xff"
              "b",
              "^.b$"))
      << "two of them are two characters";
  EXPECT_TRUE(
      matches("\xff"
              "b",
              "^\\x{FFFD}b$"));
  EXPECT_TRUE(matches("\xe2\x82", "^.$")) << "the beginning of a character is one";
}

TEST(Utf8, IsReadByTheStandardsTable) {
  for (const char* good : {"", "abc", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xf5", "\xff", "a\xc3"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
  EXPECT_EQ(with_replacements("a\xf0\x9f\x98z\xe2\x82"), "a\xef\xbf\xbdz\xef\xbf\xbd");
  EXPECT_EQ(with_replacements("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(with_replacements("a\xc3\xa4"), "a\xc3\xa4");
}

TEST(NoOp, LetsNothingPass) {
  EXPECT_FALSE(passes(CompareOp::kNoOp, *binary("a"), "a"));
  EXPECT_FALSE(passes(CompareOp::kNoOp, *binary("a"), "b"));
}

}  // namespace
}  // namespace cellar::testing
