// Numbers with units, as people write them: sums such as "1 GB 512 MB", and sizes in all their forms.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cellar {

// Unit: a word for a factor, with the other form of the word. Both are in small letters.
struct Unit {
  std::string_view name;
  std::string_view also;
  int64_t worth;
};

// Parses a sum of numbers with units, such as "1 day 2 hours". Units come from the largest to the smallest,
// each at most once, in either case. Parentheses at the end may say the same again: "65536 B (64KB)".
// `units` are in descending order of their worth. Returns false for other texts, on overflow, or if the two
// halves differ. Any thread.
bool parse_units(std::string_view text, std::span<const Unit> units, int64_t& value);

// Parses a size: "65536", "64k"; "64KB", "64KiB", "1 GB 512 MB", "65536 B (64KB)", "64KB (65536 B)". All
// units are powers of 1024. Returns false for other texts, or on overflow. Any thread.
bool parse_bytes_in_words(std::string_view text, int64_t& bytes);

}  // namespace cellar
