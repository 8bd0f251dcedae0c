// RowWords: binary search by machine words before any key is compared.
//
// The keys of one index node or block share leading row bytes. Of what follows, eight bytes per entry are
// kept as one big-endian word: most searches are decided by comparing words that lie side by side, without
// touching a key.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace cellar {

// The eight bytes of `row` from `from` on as a big-endian number, zeros behind its end. from ≤ row.size().
inline uint64_t row_word(std::string_view row, size_t from) {
  const size_t bytes = row.size() - from;
  uint64_t word = 0;
  if (bytes >= 8) {
    std::memcpy(&word, row.data() + from, 8);
    return __builtin_bswap64(word);
  }
  if (bytes > 0) std::memcpy(&word, row.data() + from, bytes);
  return __builtin_bswap64(word);
}

// Entries below `low` have smaller rows than the one searched, entries from `high` on larger ones; those
// between are undecided.
struct WordRange {
  size_t low;
  size_t high;
};

// Number of words below `word`, in ascending words. No branch depends on what is compared: which way a search
// goes cannot be guessed.
inline size_t words_below(std::span<const uint64_t> words, uint64_t word) {
  const uint64_t* base = words.data();
  size_t count = words.size();
  while (count > 1) {
    const size_t half = count / 2;
    base += base[half - 1] < word ? half : 0;
    count -= half;
  }
  return static_cast<size_t>(base - words.data()) + (count == 1 && *base < word);
}

// `words` of rows in ascending order that all begin with `prefix`.
inline WordRange narrow_by_words(std::span<const uint64_t> words, std::string_view prefix,
                                 std::string_view row) {
  const int order = row.substr(0, prefix.size()).compare(prefix.substr(0, row.size()));
  if (order < 0 || (order == 0 && row.size() < prefix.size())) return {0, 0};
  if (order > 0) return {words.size(), words.size()};
  const uint64_t word = row_word(row, prefix.size());
  const size_t low = words_below(words, word);
  size_t high = low;  // runs of equal words are short, or the whole node
  for (int steps = 0; high < words.size() && words[high] == word; ++high) {
    if (++steps <= 8) continue;
    return {low, word == UINT64_MAX ? words.size() : words_below(words, word + 1)};
  }
  return {low, high};
}

}  // namespace cellar
