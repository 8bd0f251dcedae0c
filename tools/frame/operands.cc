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
#include "base/iso_time.h"
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
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> micros, parse_iso_time(text));
  if (micros && *micros % 1000 == 0) return *micros / 1000;
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
