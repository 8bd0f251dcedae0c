// Units from the largest to the smallest, each at most once; what stands in parentheses says the same again.
#include "engine/schema/option_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/options.h"

namespace cellar {
namespace {

struct Unit {
  std::string_view name;  // in small letters, singular
  int64_t worth;
  bool plural;  // may end with an s
};

constexpr Unit kTimes[] = {
    {"day", 86400, true}, {"hour", 3600, true}, {"minute", 60, true}, {"second", 1, true}};
constexpr Unit kSizes[] = {{"tb", int64_t{1} << 40, false},
                           {"gb", int64_t{1} << 30, false},
                           {"mb", int64_t{1} << 20, false},
                           {"kb", int64_t{1} << 10, false},
                           {"b", 1, false}};

void skip_blanks(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

std::string_view trimmed(std::string_view text) {
  skip_blanks(text);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The digits in front.
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

bool is_called(std::string_view word, const Unit& unit) {
  return word == unit.name || (unit.plural && word.size() == unit.name.size() + 1 && word.back() == 's' &&
                               word.starts_with(unit.name));
}

// "1 day 2 hours", in small letters.
bool parse_sum(std::string_view text, std::span<const Unit> units, int64_t& sum) {
  sum = 0;
  text = trimmed(text);
  if (text.empty()) return false;
  size_t next = 0;  // the first unit that may still come
  while (!text.empty()) {
    int64_t number = 0;
    if (!take_number(text, number)) return false;
    skip_blanks(text);
    const std::string_view word = take_word(text);
    while (next < units.size() && !is_called(word, units[next])) ++next;
    if (next == units.size() || __builtin_mul_overflow(number, units[next].worth, &number) ||
        __builtin_add_overflow(sum, number, &sum))
      return false;
    ++next;
    skip_blanks(text);
  }
  return true;
}

bool parse_words(std::string_view text, std::span<const Unit> units, int64_t& value) {
  const std::string small = lower_ascii(text);
  const size_t open = small.find('(');
  if (open == std::string::npos) return parse_sum(small, units, value);
  const std::string_view rest = trimmed(std::string_view(small).substr(open + 1));
  int64_t again = 0;
  return rest.ends_with(')') && parse_sum(std::string_view(small).substr(0, open), units, value) &&
         parse_sum(rest.substr(0, rest.size() - 1), units, again) && value == again;
}

// "7d": one letter for the unit.
bool parse_short_time(std::string_view text, int64_t& seconds) {
  int64_t factor = 1;
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0) {
    const std::string_view letters = "smhd";
    const size_t unit = letters.find(text.back());
    if (unit == std::string_view::npos) return false;
    constexpr int64_t kWorth[] = {1, 60, 3600, 86400};
    factor = kWorth[unit];
    text.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc() && end == text.data() + text.size() &&
         !__builtin_mul_overflow(seconds, factor, &seconds);
}

// Returns the parameters in the parentheses, in order. A part that is no parameter has no value, and is
// reported when the plug-in is made.
std::vector<std::pair<std::string_view, std::string_view>> parameters_in(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return found;
  std::string_view rest = text.substr(open + 1, text.rfind(')') - open - 1);
  while (!trimmed(rest).empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const size_t equals = part.find('=');
    found.emplace_back(trimmed(part.substr(0, equals)),
                       equals == std::string_view::npos ? "" : trimmed(part.substr(equals + 1)));
  }
  return found;
}

}  // namespace

std::string_view plugin_in(std::string_view text) { return trimmed(text.substr(0, text.find('('))); }

std::string parameter_in(std::string_view text, std::string_view parameter) {
  for (const auto& [name, value] : parameters_in(text))
    if (name == parameter) return std::string(value);
  return {};
}

std::string with_parameter(std::string_view text, std::string_view parameter, std::string_view value) {
  CELLAR_ASSERT(!parameter.empty());
  std::string inside;
  const auto add = [&](std::string_view name, std::string_view what) {
    inside += fmt::format("{}{}={}", inside.empty() ? "" : ", ", name, what);
  };
  for (const auto& [name, old] : parameters_in(text))
    if (name != parameter) add(name, old);
  if (!value.empty()) add(parameter, value);
  const std::string name(plugin_in(text));
  return inside.empty() ? name : name + "(" + inside + ")";
}

bool parse_seconds(std::string_view text, int64_t& seconds) {
  if (lower_ascii(text) == "forever") {
    seconds = kForever;
    return true;
  }
  return parse_short_time(text, seconds) || parse_words(text, kTimes, seconds);
}

bool parse_bytes_in_words(std::string_view text, int64_t& bytes) {
  return parse_scaled(text, bytes) || parse_words(text, kSizes, bytes);
}

}  // namespace cellar
