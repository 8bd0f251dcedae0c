// Goal: the search among row words finds what std::lower_bound finds, however the words are spread. Method:
// random words of several spreads: even, crowded at one end, in runs of equals, all equal, the ends of the
// range. Each set is searched for each of its words, their neighbours, and random ones.
#include "hfile/format/row_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/random.h"

namespace cellar {
namespace {

std::vector<uint64_t> spread(int kind, size_t count, Random& random) {
  std::vector<uint64_t> words;
  uint64_t word = random.below(3);
  for (size_t i = 0; i < count; ++i) {
    switch (kind) {
      case 0:
        word += 1000 + random.below(10);
        break;  // even
      case 1:
        word += i * 9 < count * 8 ? 1 : UINT64_MAX / 8 / count;
        break;  // nearly all at the low end
      case 2:
        word += i < 2 ? UINT64_MAX / 4 : 1;
        break;  // nearly all at the high end
      case 3:
        word += random.below(20) == 0 ? 1 + random.below(1u << 20) : 0;
        break;  // runs of equals
      case 4:
        word += i % 2 == 0 ? UINT64_MAX / (2 * count) : 1;
        break;
      case 5:
        word = 7;
        break;
      default:
        word = i * 2 < count ? 0 : UINT64_MAX;
    }
    words.push_back(word);
  }
  return words;
}

TEST(RowWords, FindsWhatLowerBoundFinds) {
  Random random(20);
  for (int kind = 0; kind <= 6; ++kind) {
    for (const size_t count : {0, 1, 2, 3, 15, 16, 17, 18, 31, 64, 100, 1000}) {
      const std::vector<uint64_t> words = spread(kind, count, random);
      ASSERT_TRUE(std::is_sorted(words.begin(), words.end()));
      std::vector<uint64_t> searched = {0, 1, UINT64_MAX - 1, UINT64_MAX};
      for (const uint64_t word : words) searched.insert(searched.end(), {word - 1, word, word + 1});
      for (int i = 0; i < 100; ++i) searched.push_back(random.next());
      const uint64_t last = words.empty() ? 0 : words.back();
      const WordGuess guess(words);
      for (const uint64_t word : searched) {
        const size_t expected =
            static_cast<size_t>(std::lower_bound(words.begin(), words.end(), word) - words.begin());
        ASSERT_EQ(words_below(words, word, last, words.empty() ? 0 : guess(word, words.size())), expected)
            << "spread " << kind << ", " << count << " words, for " << word;
        ASSERT_EQ(words_below_by_halves(words, word), expected);
      }
    }
  }
}

// The words are the bytes that a plain loop puts together.
TEST(RowWords, WordsAreTheBytesOfTheirText) {
  Random random(21);
  const auto draw = [&](size_t bytes_max) {
    std::string text(random.below(bytes_max + 1), '\0');
    for (char& c : text) c = static_cast<char>(random.below(256));
    return text;
  };
  for (int round = 0; round < 20000; ++round) {
    const std::string row = draw(12);
    const std::string rest = draw(12);
    const char fill = random.one_in(2) ? '\0' : '\xff';
    const size_t from = random.below(row.size() + rest.size() + 2);
    std::string bytes = row + rest + std::string(16, fill);
    bytes = bytes.substr(std::min(from, row.size() + rest.size()), 8);
    ASSERT_EQ(text_word({row, rest, fill}, from), load_be64(bytes.data())) << round;
    const size_t in_row = random.below(row.size() + 1);
    ASSERT_EQ(row_word(row, in_row), load_be64((row.substr(in_row) + std::string(8, '\0')).data())) << round;
    const std::string prefix = random.one_in(2) ? row.substr(0, in_row) : draw(12);
    ASSERT_EQ(begins_with(row, prefix), row.starts_with(prefix)) << round;
    const std::string other = random.one_in(2) ? row.substr(0, in_row) + draw(12) : draw(20);
    const std::string longer = row + rest;
    ASSERT_EQ(row_is_before(longer, other), longer < other) << round;
    ASSERT_EQ(row_is_before(longer, row), longer < row) << round;
    ASSERT_FALSE(row_is_before(longer, longer)) << round;
  }
}

TEST(RowWords, RangesOfBytesAreThoseOfAPlainLoop) {
  Random random(23);
  for (const size_t count : {2, 3, 4, 7, 64, 125}) {
    for (const uint64_t mask : {UINT64_MAX, uint64_t{0x0F0F0F0F0F0F0F0F}, uint64_t{0x00FFFF0000FF00FF}}) {
      std::vector<uint64_t> words(count);
      for (uint64_t& word : words) word = random.next() & mask;
      const ByteRanges ranges(words);
      for (int place = 0; place < 8; ++place) {
        int low = 255;
        int high = 0;
        for (const uint64_t word : words) {
          const auto byte = static_cast<uint8_t>(word >> (56 - 8 * place));
          low = std::min<int>(low, byte);
          high = std::max<int>(high, byte);
        }
        ASSERT_EQ(ranges.low(place), low) << count << " words, place " << place;
        ASSERT_EQ(ranges.high(place), high) << count << " words, place " << place;
      }
    }
  }
}

// If the guess is right, a search does not touch memory.
TEST(RowWords, TheGuessIsRightForEvenlySpreadDigits) {
  for (const char* form : {"%08u", "%08x"}) {
    for (const unsigned step : {1u, 2u, 10u}) {
      std::vector<uint64_t> words;
      for (unsigned i = 0; i < 125; ++i) {
        char row[9];
        std::snprintf(row, sizeof row, form, 54'321u + i * step);
        words.push_back(row_word(row, 4));
      }
      const WordGuess guess(words);
      for (size_t i = 0; i < words.size(); ++i) {
        const size_t at = guess(words[i], words.size());
        EXPECT_LE(at > i ? at - i : i - at, 3u) << form << ", step " << step << ", entry " << i;
      }
    }
  }
}

TEST(RowWords, NarrowsToTheRowsThatTheWordLeavesUndecided) {
  const std::vector<std::string> rows = {"user1", std::string("user1\0a", 7), "user12345678", "user12345678z",
                                         "user2"};
  const RowWords words(rows.size(), [&](size_t i) { return std::string_view(rows[i]); });
  const auto narrow = [&](std::string_view row) {
    const WordRange range = words.narrow(row);
    return std::pair(range.low, range.high);
  };
  using Range = std::pair<size_t, size_t>;
  EXPECT_EQ(narrow(""), Range(0, 0));
  EXPECT_EQ(narrow("use"), Range(0, 0));
  EXPECT_EQ(narrow("uses"), Range(5, 5));
  EXPECT_EQ(narrow("a"), Range(0, 0));
  EXPECT_EQ(narrow("user"), Range(0, 0));
  EXPECT_EQ(narrow("user1"), Range(0, 1));
  EXPECT_EQ(narrow("user12345678"), Range(2, 4));
  EXPECT_EQ(narrow("user3"), Range(5, 5));
}

TEST(RowWords, LongRunsOfOneWordAreTaken) {
  std::vector<std::string> rows(100, "user12345678");
  rows.insert(rows.begin(), "user1");
  rows.emplace_back("user2");
  const RowWords words(rows.size(), [&](size_t i) { return std::string_view(rows[i]); });
  const WordRange range = words.narrow("user12345678suffix");
  EXPECT_EQ(range.low, 1u);
  EXPECT_EQ(range.high, 101u);
}

}  // namespace
}  // namespace cellar
