// RowWords: search by machine words before any key is compared.
//
// The keys of one index node or block share leading bytes. The next eight bytes of each entry are kept as a
// big-endian word. Most searches compare only adjacent words and touch no key. They begin at the likely
// position of the word (docs/decisions/search-by-words.md).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/coding.h"

namespace cellar {

// Returns whether `text` begins with `prefix`. Most prefixes are short: no call is made for them.
[[gnu::always_inline]] inline bool begins_with(std::string_view text, std::string_view prefix) {
  constexpr size_t kWord = sizeof(uint64_t);
  const size_t size = prefix.size();
  if (text.size() < size) return false;
  if (size < kWord) return first_bytes(text.data(), size) == first_bytes(prefix.data(), size);
  for (size_t at = 0; at + kWord < size; at += kWord)
    if (load_be64(text.data() + at) != load_be64(prefix.data() + at)) return false;
  return load_be64(text.data() + size - kWord) == load_be64(prefix.data() + size - kWord);
}

// Returns whether row `a` sorts before row `b`. No call is made for rows of eight bytes and more.
inline bool row_is_before(std::string_view a, std::string_view b) {
  constexpr size_t kWord = sizeof(uint64_t);
  const size_t shared = std::min(a.size(), b.size());
  if (shared < kWord) return a < b;
  for (size_t at = 0;; at = std::min(at + kWord, shared - kWord)) {
    const uint64_t left = load_be64(a.data() + at);
    const uint64_t right = load_be64(b.data() + at);
    if (left != right) return left < right;
    if (at + kWord == shared) return a.size() < b.size();
  }
}

// SearchText: bytes that order as cells do, as far as they reach: a row, and what follows it.
struct SearchText {
  std::string_view row;
  std::string_view rest = {};
  char fill = '\0';  // after both, without end
};

// Its eight bytes from `from` on.
inline uint64_t text_word(const SearchText& text, size_t from) {
  constexpr size_t kWord = sizeof(uint64_t);
  if (from + kWord <= text.row.size()) return load_be64(text.row.data() + from);
  size_t at = 0;
  uint64_t word = 0;
  if (from < text.row.size()) {
    at = text.row.size() - from;
    word = row_word(text.row, from);
  }
  const size_t skipped = std::min(from + at - text.row.size(), text.rest.size());
  if (skipped < text.rest.size()) {
    word |= row_word(text.rest, skipped) >> (8 * at);
    at = std::min(kWord, at + text.rest.size() - skipped);
  }
  if (text.fill != '\0' && at < kWord)
    word |= static_cast<uint8_t>(text.fill) * (UINT64_C(0x0101010101010101) >> (8 * at));
  return word;
}

// Entries below `low` have smaller rows than the one searched, entries from `high` on larger ones; those
// between are undecided.
struct WordRange {
  size_t low;
  size_t high;
};

// Number of words below `word`, in ascending words. No branch depends on what is compared: which way a search
// goes cannot be guessed.
inline size_t words_below_by_halves(std::span<const uint64_t> words, uint64_t word) {
  const uint64_t* base = words.data();
  size_t count = words.size();
  while (count > 1) {
    const size_t half = count / 2;
    base += base[half - 1] < word ? half : 0;
    count -= half;
  }
  return static_cast<size_t>(base - words.data()) + (count == 1 && *base < word);
}

// ByteRanges: the least and the greatest byte of each place of some words.
class ByteRanges {
 public:
  // There are two words or more.
  explicit ByteRanges(std::span<const uint64_t> words) {
    const size_t count = words.size();
    for (size_t i = 0; i + 2 < count; i += 2) take(words[i], words[i + 1]);
    take(words[count - 2], words[count - 1]);  // of an odd number, the first of these is taken twice
  }
  // A place is 0 for a word's highest byte, and 7 for its lowest.
  int low(int place) const { return std::min(low_[7 - place], low_[15 - place]); }
  int high(int place) const { return std::max(high_[7 - place], high_[15 - place]); }

 private:
  using Words [[gnu::vector_size(16)]] = uint64_t;
  using Bytes [[gnu::vector_size(16)]] = uint8_t;

  void take(uint64_t first, uint64_t second) {
    const Words words = {first, second};
    const auto bytes = reinterpret_cast<Bytes>(words);
    low_ = bytes < low_ ? bytes : low_;
    high_ = bytes > high_ ? bytes : high_;
  }

  Bytes low_ = ~Bytes{};
  Bytes high_ = {};
};

// WordGuess: where among ascending words a word is likely to lie. Takes their bytes for the digits of a
// number. The radix of each place is the range of bytes that occur there, without its widest unused stretch
// (as between '9' and 'a'). Exact for evenly spread decimal, hexadecimal and binary keys, near for most
// others. Calculates with integers, in fractions of an entry: each search waits for the result.
class WordGuess {
 public:
  WordGuess() = default;
  explicit WordGuess(std::span<const uint64_t> words) {
    if (words.size() < 2) return;
    const ByteRanges ranges(words);
    const auto last = static_cast<double>(words.size() - 1);
    double weights[kPlaces];  // entries per digit
    double weight = last;
    double span = 0;                                    // from the first word to the last one
    for (; used_ < kPlaces && weight > 0.5; ++used_) {  // less does not change the guess
      weight /= places_[used_].look_at(words, used_, ranges);
      weights[used_] = weight;
      span += weight * (digit(words.back(), used_) - digit(words.front(), used_));
    }
    const double most = *std::max_element(weights, weights + used_) * last / span;
    if (!(span > 0) || most >= kWeightMax) {  // they differ in later bytes, or not at all
      *this = WordGuess();
      return;
    }
    while (fraction_bits_ < kFractionBitsMax && most * (2 << fraction_bits_) < kWeightMax) ++fraction_bits_;
    for (int i = 0; i < used_; ++i)
      places_[i].weight = static_cast<uint32_t>(weights[i] * last / span * (1 << fraction_bits_));
    from_ = sum(words.front()) - (int64_t{1} << fraction_bits_) / 2;
  }

  // 0 … count - 1; count ≥ 1 is the number of words.
  size_t operator()(uint64_t word, size_t count) const {
    const int64_t at = sum(word) - from_;
    if (at <= 0) return 0;
    return std::min(static_cast<size_t>(at) >> fraction_bits_, count - 1);
  }

 private:
  static constexpr int kPlaces = 6;
  static constexpr int kFractionBitsMax = 16;
  static constexpr double kWeightMax = 1u << 31;
  static constexpr int kGapMin = 6;        // below, a value that is missing may be there next time
  static constexpr int kGapRadixMin = 16;  // the ten decimal digits have no gap that is worth a pass
  static int byte(uint64_t word, int place) { return static_cast<int>(word >> (56 - 8 * place) & 0xff); }

  struct Place {
    uint32_t weight = 0;  // of a digit, in fractions of an entry
    uint8_t gap_after = 255;
    uint8_t gap = 0;

    int digit(int byte) const { return byte - (byte > gap_after ? gap : 0); }
    // Finds the gap; returns the radix.
    int look_at(std::span<const uint64_t> words, int place, const ByteRanges& ranges) {
      const int radix = ranges.high(place) - ranges.low(place) + 1;
      if (radix < kGapRadixMin) return radix;
      uint64_t seen[4] = {};  // a bit for each value
      for (const uint64_t word : words) seen[byte(word, place) / 64] |= uint64_t{1} << byte(word, place) % 64;
      int before = ranges.low(place);
      for (int part = 0; part < 4; ++part) {
        for (uint64_t left = seen[part]; left != 0; left &= left - 1) {
          const int value = 64 * part + std::countr_zero(left);
          if (value - before - 1 > gap) {
            gap = static_cast<uint8_t>(value - before - 1);
            gap_after = static_cast<uint8_t>(before);
          }
          before = value;
        }
      }
      if (gap < kGapMin) *this = Place();
      return radix - gap;
    }
  };

  int digit(uint64_t word, int place) const { return places_[place].digit(byte(word, place)); }
  int64_t sum(uint64_t word) const {
    uint64_t left = __builtin_bswap64(word);  // the highest byte first
    int64_t total = 0;
    for (int i = 0; i < used_; ++i, left >>= 8)
      total += int64_t{places_[i].weight} * places_[i].digit(static_cast<int>(left & 0xff));
    return total;
  }

  Place places_[kPlaces];
  int64_t from_ = 0;
  int used_ = 0;
  int fraction_bits_ = 0;
};

// As words_below_by_halves; looks first at `at`, where the guess says, then ever farther from there. A search
// by halves of words that are in no cache waits for memory at every look. `last` is the last word.
inline size_t words_below(std::span<const uint64_t> words, uint64_t word, uint64_t last, size_t at) {
  const size_t count = words.size();
  if (count == 0 || word > last) return count;
  size_t low = 0;  // the answer is low … high
  size_t high = count - 1;
  if (words[at] < word) {
    low = at + 1;
    for (size_t step = 1; low + step - 1 < high; step *= 2) {
      const size_t look = low + step - 1;
      if (words[look] >= word) {
        high = look;
        break;
      }
      low = look + 1;
    }
  } else {
    high = at;
    for (size_t step = 1; step <= high; step *= 2) {
      const size_t look = high - step;
      if (words[look] < word) {
        low = look + 1;
        break;
      }
      high = look;
    }
  }
  if (low >= high) return low;
  return low + words_below_by_halves(words.subspan(low, high - low), word);
}

// `words` ascend; `last` is the last of them, if there is one, and `at` what the guess made of them says of
// `word`.
inline WordRange narrow_by_words(std::span<const uint64_t> words, uint64_t word, uint64_t last, size_t at) {
  const size_t low = words_below(words, word, last, at);
  size_t high = low;  // runs of equal words are short, or the whole node
  for (int steps = 0; high < words.size() && words[high] == word; ++high) {
    if (++steps <= 8) continue;
    return {low, word == UINT64_MAX ? words.size() : words_below(words, word + 1, last, at)};
  }
  return {low, high};
}

// RowWords: the words of rows in ascending order, and how to search them.
class RowWords {
 public:
  RowWords() = default;
  // `row_at(i)` is the i-th of `count` rows.
  template <class RowAt>
  RowWords(size_t count, const RowAt& row_at) {
    if (count == 0) return;
    const std::string_view first = row_at(0);  // what the first and the last share, all share
    prefix_ = first.substr(0, common_prefix(first, row_at(count - 1)));
    words_.reserve(count);
    for (size_t i = 0; i < count; ++i) words_.push_back(row_word(row_at(i), prefix_.size()));
    guess_ = WordGuess(words_);
  }

  uint64_t memory_bytes() const { return words_.capacity() * sizeof(uint64_t); }
  // There is a row.
  WordRange narrow(std::string_view row) const {
    if (!begins_with(row, prefix_)) {
      const bool before = row < prefix_;
      return before ? WordRange{0, 0} : WordRange{words_.size(), words_.size()};
    }
    const uint64_t word = row_word(row, prefix_.size());
    return narrow_by_words(words_, word, words_.back(), guess_(word, words_.size()));
  }

 private:
  std::vector<uint64_t> words_;
  WordGuess guess_;
  std::string prefix_;  // leading bytes that all rows share
};

}  // namespace cellar
