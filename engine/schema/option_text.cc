// Times in words, and the text form of plug-ins.
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
#include "base/units.h"
#include "cellar/options.h"

namespace cellar {
namespace {

constexpr Unit kTimes[] = {
    {"day", "days", 86400}, {"hour", "hours", 3600}, {"minute", "minutes", 60}, {"second", "seconds", 1}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
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

// Returns the parameters in the parentheses, in order. A value may be a list: a part without "=" continues
// the value before it. Where no value comes before it, the part becomes a parameter without a value. The
// plug-in refuses such a parameter.
std::vector<std::pair<std::string_view, std::string_view>> parameters_in(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return found;
  std::string_view rest = text.substr(open + 1, text.rfind(')') - open - 1);
  while (!trimmed(rest).empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos && !found.empty() && !found.back().second.empty()) {
      std::string_view& value = found.back().second;
      const std::string_view more = trimmed(part);
      value = {value.data(), static_cast<size_t>(more.data() + more.size() - value.data())};
    } else {
      found.emplace_back(trimmed(part.substr(0, equals)),
                         equals == std::string_view::npos ? "" : trimmed(part.substr(equals + 1)));
    }
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
  return parse_short_time(text, seconds) || parse_units(text, kTimes, seconds);
}

}  // namespace cellar
