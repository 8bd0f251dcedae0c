// Parsing of operands, and values in the forms of --as.
#include "tools/frame/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/units.h"
#include "cellar/environment.h"
#include "cellar/plugin.h"
#include "engine/values/remote_engines.h"
#include "tools/frame/output.h"

namespace cellar {

namespace {

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Takes `digits` digits off the front.
bool take_digits(std::string_view& text, size_t digits, int64_t& number) {
  const std::string_view front = text.substr(0, digits);
  if (front.size() < digits || front.find_first_not_of("0123456789") != front.npos) return false;
  text.remove_prefix(digits);
  return parse_whole(front, number);
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

int64_t days_of(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

int64_t days_in_month(int64_t year, int64_t month) {
  constexpr std::array<int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return kDays[static_cast<size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

// "2026-11-20", "2026-11-20T18:04", "…:11", "….203", each with or without Z. UTC. Nothing when the text has
// another form; kInvalidArgument when it has this form and the date or the time of day does not exist.
Result<std::optional<int64_t>> parse_iso(std::string_view text) {
  const std::string_view whole = text;
  int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, milli = 0;
  if (!take_digits(text, 4, year) || !take(text, '-') || !take_digits(text, 2, month) || !take(text, '-') ||
      !take_digits(text, 2, day)) {
    return std::optional<int64_t>();
  }
  if (take(text, 'T') || take(text, ' ')) {
    if (!take_digits(text, 2, hour) || !take(text, ':') || !take_digits(text, 2, minute))
      return std::optional<int64_t>();
    if (take(text, ':') && !take_digits(text, 2, second)) return std::optional<int64_t>();
    if (take(text, '.') && !take_digits(text, 3, milli)) return std::optional<int64_t>();
  }
  take(text, 'Z');
  if (!text.empty()) return std::optional<int64_t>();
  if (month < 1 || month > 12) return invalid_operand(whole, "a date", "months go from 01 to 12");
  if (const int64_t days = days_in_month(year, month); day < 1 || day > days)
    return invalid_operand(whole, "a date", fmt::format("{:04}-{:02} has {} days", year, month, days));
  if (hour > 23 || minute > 59 || second > 59)
    return invalid_operand(whole, "a time of day", "times of day go from 00:00:00 to 23:59:59");
  return std::optional(((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60000 + second * 1000 +
                       milli);
}

// Another meaning of a number of milliseconds, and how to write it unambiguously.
struct OtherReading {
  std::string_view what;
  std::string text;
};

// Returns the other reading of a text of digits. It is a year (2026), a month (202611), a date (20261120), a
// date and time (202611201804, 20261120180411), or seconds since 1970 (10 digits). Returns nothing if
// milliseconds since 1970 are the only sensible reading.
std::optional<OtherReading> other_reading_of(std::string_view text) {
  int64_t number = 0;
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos || !parse_whole(text, number))
    return std::nullopt;
  constexpr int64_t kSecondsOf2000 = 946684800;
  if (text.size() == 10 && number >= kSecondsOf2000)
    return OtherReading{"seconds since 1970", time_text(number * 1000)};
  if (text.size() < 4) return std::nullopt;
  const auto part = [&](size_t at) {
    int64_t value = 0;
    parse_whole(text.substr(at, 2), value);
    return value;
  };
  const int64_t century = part(0);
  if (century < 19 || century > 21) return std::nullopt;
  const std::string year(text.substr(0, 4));
  if (text.size() == 4) return OtherReading{"a year", year + "-01-01"};
  if (text.size() < 6 || text.size() % 2 != 0 || text.size() > 14 || part(4) < 1 || part(4) > 12)
    return std::nullopt;
  std::string date = fmt::format("{}-{}", year, text.substr(4, 2));
  if (text.size() == 6) return OtherReading{"a month", date + "-01"};
  if (part(6) < 1 || part(6) > 31) return std::nullopt;
  date += fmt::format("-{}", text.substr(6, 2));
  if (text.size() == 8) return OtherReading{"a date", date};
  if (text.size() == 10 || part(8) > 23 || part(10) > 59) return std::nullopt;
  date += fmt::format("T{}:{}", text.substr(8, 2), text.substr(10, 2));
  if (text.size() == 12) return OtherReading{"a date and time", date};
  return part(12) > 59
             ? std::nullopt
             : std::optional(OtherReading{"a date and time", date + fmt::format(":{}", text.substr(12))});
}

}  // namespace

Status invalid_operand(std::string_view text, std::string_view what, std::string_view hint) {
  return Status::invalid_argument(fmt::format("\"{}\" is not {}", escaped(text), what)).hinting(hint);
}

Result<std::string> parse_bytes(std::string_view text) {
  Result<std::string> bytes = unescaped(text);
  if (bytes.ok()) return bytes;
  return bytes.status().hinting("a byte is written \\xHH, a backslash itself \\x5C");
}

Result<ColumnOperand> parse_column(std::string_view text) {
  const size_t colon = text.find(':');
  ColumnOperand column;
  CELLAR_TRY_ASSIGN(column.family, parse_bytes(text.substr(0, colon)));
  if (colon == std::string_view::npos) {
    if (column.family.empty())
      return invalid_operand(text, "a column", "a column is written family:qualifier");
    return column;
  }
  CELLAR_TRY_ASSIGN(column.qualifier, parse_bytes(text.substr(colon + 1)));
  return column;
}

Result<ColumnOperand> parse_one_column(std::string_view text) {
  CELLAR_TRY_ASSIGN(ColumnOperand column, parse_column(text));
  if (column.qualifier) return column;
  return invalid_operand(text, "a column",
                         fmt::format("a column is written family:qualifier; {}: has no qualifier", text));
}

bool is_cluster(std::string_view text) { return is_cluster_name(text); }

Result<uint64_t> parse_size(std::string_view text) {
  int64_t bytes = 0;
  if ((parse_scaled(text, bytes) || parse_bytes_in_words(text, bytes)) && bytes >= 0)
    return static_cast<uint64_t>(bytes);
  return invalid_operand(text, "a size", "write 65536, 64k or 1MiB");
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  std::istringstream in{std::string(list)};
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

std::vector<std::string> words_outside_parentheses(std::string_view list) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  for (const char c : list) {
    depth += (c == '(' ? 1 : 0) - (c == ')' ? 1 : 0);
    if (c == ',' && depth == 0) {
      words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

Result<int64_t> parse_integer(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  int64_t number = 0;
  if (parse_whole(digits, number)) return number;
  return invalid_operand(text, "a whole number", "write digits, such as 42 or -1");
}

Result<uint64_t> parse_count(std::string_view text) {
  uint64_t number = 0;
  if (parse_whole(text, number)) return number;
  return invalid_operand(text, "a whole number from 0 to 18446744073709551615", "write digits alone");
}

Result<int64_t> parse_duration_ms(std::string_view text) {
  struct Suffix {
    std::string_view name;
    int64_t factor;
  };
  constexpr std::array<Suffix, 5> kUnits = {
      {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}}};
  int64_t factor = 1;
  std::string_view digits = text;
  for (const Suffix& unit : kUnits) {
    if (!digits.ends_with(unit.name)) continue;
    factor = unit.factor;
    digits.remove_suffix(unit.name.size());
    break;
  }
  int64_t number = 0;
  if (parse_whole(digits, number) && number >= 0 && number <= INT64_MAX / factor) return number * factor;
  return invalid_operand(text, "a duration", "write 500ms, 90s, 15m, 2h or 7d");
}

Result<int64_t> parse_written_time(std::string_view text) {
  if (text.starts_with("now")) {
    const int64_t now = system_clock().wall_ms();
    if (text.size() == 3) return now;
    if (text[3] == '-' || text[3] == '+') {
      CELLAR_TRY_ASSIGN(const int64_t span, parse_duration_ms(text.substr(4)));
      int64_t time = 0;
      const bool beyond = text[3] == '-' ? __builtin_sub_overflow(now, span, &time)
                                         : __builtin_add_overflow(now, span, &time);
      if (!beyond && time >= 0) return time;
      return invalid_operand(text, "a time", "the time is before 1970 or too far in the future");
    }
  }
  std::string_view digits = text;
  if (digits.ends_with("ms")) digits.remove_suffix(2);
  int64_t number = 0;
  if (parse_whole(digits, number) && number >= 0) return number;
  if (text == "LATEST") return kLatestTimestamp;
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> iso, parse_iso(text));
  if (iso) return *iso;
  return invalid_operand(text, "a time",
                         "write milliseconds since 1970, 2026-11-20, 2026-11-20T18:04:11Z, now or now-2h");
}

Result<int64_t> parse_time(std::string_view text) {
  if (const std::optional<OtherReading> other = other_reading_of(text)) {
    return Status::invalid_argument(
               fmt::format("\"{}\" is ambiguous: it could be {} or milliseconds since 1970", text,
                           other->what))
        .hinting(fmt::format("write {} for {}, or {}ms for milliseconds (cellar help times)", other->text,
                             other->what, text));
  }
  return parse_written_time(text);
}

Result<std::pair<int64_t, int64_t>> parse_time_range(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos)
    return invalid_operand(text, "a time range", "write FROM..UNTIL; either may be left out");
  std::pair<int64_t, int64_t> range = {0, kLatestTimestamp};
  if (dots > 0) {
    CELLAR_TRY_ASSIGN(range.first, parse_time(text.substr(0, dots)));
  }
  if (dots + 2 < text.size()) {
    CELLAR_TRY_ASSIGN(range.second, parse_time(text.substr(dots + 2)));
  }
  if (range.first > range.second)
    return invalid_operand(text, "a time range", "the first time is later than the second");
  return range;
}

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == ':';
  };
  if (!text.empty() && text.front() != '-' && std::ranges::all_of(text, plain)) return std::string(text);
  std::string quoted = "'";  // 'it'\''s'
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

Status unknown_action(const std::string& action, const std::vector<std::string>& actions) {
  std::string all;
  for (const std::string& each : actions)
    all += (all.empty() ? "" : &each == &actions.back() ? " or " : ", ") + each;
  const std::string nearest = nearest_name(action, actions);
  return Status::invalid_argument(fmt::format("unknown action \"{}\"", escaped(action)))
      .hinting(nearest.empty() ? all : fmt::format("did you mean {}?", nearest));
}

}  // namespace cellar
