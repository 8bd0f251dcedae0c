// Units from the largest to the smallest, each at most once; what stands in parentheses says the same again.
#include "base/units.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <string>

#include "base/assert.h"
#include "base/bytes.h"

namespace cellar {
namespace {

constexpr Unit kSizes[] = {{"tb", "tib", int64_t{1} << 40},
                           {"gb", "gib", int64_t{1} << 30},
                           {"mb", "mib", int64_t{1} << 20},
                           {"kb", "kib", int64_t{1} << 10},
                           {"b", "b", 1}};

void skip_blanks(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

std::string_view without_blanks(std::string_view text) {
  skip_blanks(text);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Takes the digits in front.
bool take_number(std::string_view& text, int64_t& number) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

std::string_view take_word(std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && std::isalpha(static_cast<unsigned char>(text[length])) != 0) ++length;
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

// Parses "1 day 2 hours", in small letters.
bool parse_sum(std::string_view text, std::span<const Unit> units, int64_t& sum) {
  sum = 0;
  text = without_blanks(text);
  if (text.empty()) return false;
  size_t next = 0;  // the first unit that may still come
  while (!text.empty()) {
    int64_t number = 0;
    if (!take_number(text, number)) return false;
    skip_blanks(text);
    const std::string_view word = take_word(text);
    while (next < units.size() && word != units[next].name && word != units[next].also) ++next;
    if (next == units.size() || __builtin_mul_overflow(number, units[next].worth, &number) ||
        __builtin_add_overflow(sum, number, &sum))
      return false;
    ++next;
    skip_blanks(text);
  }
  return true;
}

}  // namespace

bool parse_units(std::string_view text, std::span<const Unit> units, int64_t& value) {
  CELLAR_ASSERT(std::ranges::is_sorted(units, std::greater<>(), &Unit::worth));
  const std::string small = lower_ascii(text);
  const size_t open = small.find('(');
  if (open == std::string::npos) return parse_sum(small, units, value);
  const std::string_view rest = without_blanks(std::string_view(small).substr(open + 1));
  int64_t again = 0;
  return rest.ends_with(')') && parse_sum(std::string_view(small).substr(0, open), units, value) &&
         parse_sum(rest.substr(0, rest.size() - 1), units, again) && value == again;
}

bool parse_bytes_in_words(std::string_view text, int64_t& bytes) {
  return parse_scaled(text, bytes) || parse_units(text, kSizes, bytes);
}

}  // namespace cellar
