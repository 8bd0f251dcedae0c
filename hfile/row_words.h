// RowWords: binary search by machine words before any key is compared.
//
// The keys of one index node or block share leading row bytes. Of what follows, eight bytes per entry are
// kept as one big-endian word: most searches are decided by comparing words that lie side by side, without
// touching a key.
#pragma once

#include <algorithm>
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

// The same; looks first where the word would lie if words were spread evenly, then ever farther from there.
// Rows often are, and a search by halves of words that are in no cache waits for memory at every look. `last`
// is the last word.
inline size_t words_below(std::span<const uint64_t> words, uint64_t word, uint64_t last) {
  const size_t count = words.size();
  constexpr size_t kFew = 16;
  if (count <= kFew) return words_below_by_halves(words, word);
  if (word > last) return count;
  const uint64_t first = words.front();
  if (word <= first) return 0;
  const double part = static_cast<double>(word - first) / static_cast<double>(last - first);
  size_t at = std::min(static_cast<size_t>(part * static_cast<double>(count - 1)), count - 1);
  // Afterwards words[low] < word <= words[high].
  size_t low = 0;
  size_t high = count - 1;
  if (words[at] < word) {
    for (size_t step = 1; at < high; step *= 2) {
      low = at;
      at = std::min(at + step, high);
      if (words[at] >= word) high = at;
    }
  } else {
    for (size_t step = 1; at > low; step *= 2) {
      high = at;
      at = at > step ? at - step : 0;
      if (words[at] < word) low = at;
    }
  }
  return low + 1 + words_below_by_halves(words.subspan(low + 1, high - low - 1), word);
}

// `words` of rows in ascending order that all begin with `prefix`; `last` is the last of them, if there is
// one.
inline WordRange narrow_by_words(std::span<const uint64_t> words, uint64_t last, std::string_view prefix,
                                 std::string_view row) {
  const int order = row.substr(0, prefix.size()).compare(prefix.substr(0, row.size()));
  if (order < 0 || (order == 0 && row.size() < prefix.size())) return {0, 0};
  if (order > 0) return {words.size(), words.size()};
  const uint64_t word = row_word(row, prefix.size());
  const size_t low = words_below(words, word, last);
  size_t high = low;  // runs of equal words are short, or the whole node
  for (int steps = 0; high < words.size() && words[high] == word; ++high) {
    if (++steps <= 8) continue;
    return {low, word == UINT64_MAX ? words.size() : words_below(words, word + 1, last)};
  }
  return {low, high};
}

}  // namespace cellar
