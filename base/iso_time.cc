// Dates of the Gregorian calendar, by eras of 400 years.
#include "base/iso_time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/bytes.h"

namespace cellar {
namespace {

constexpr int64_t kDaySeconds = 86400;

// Takes `digits` digits off the front.
bool take_digits(std::string_view& text, size_t digits, int64_t& number) {
  const std::string_view front = text.substr(0, digits);
  if (front.size() < digits || front.find_first_not_of("0123456789") != front.npos) return false;
  std::from_chars(front.data(), front.data() + front.size(), number);
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Takes ".203" or ".203456", if there is a point.
bool take_fraction(std::string_view& text, int64_t& micros) {
  if (!take(text, '.')) return true;
  int64_t more = 0;
  if (!take_digits(text, 3, micros)) return false;
  take_digits(text, 3, more);
  micros = micros * 1000 + more;
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

Status not_a(std::string_view what, std::string_view text, std::string_view hint) {
  return Status::invalid_argument(fmt::format("\"{}\" is not {}", escaped(text), what)).hinting(hint);
}

}  // namespace

std::optional<std::string> iso_seconds(int64_t seconds) {
  constexpr int64_t kYear0 = -62167219200;
  constexpr int64_t kYear10000 = 253402300800;
  if (seconds < kYear0 || seconds >= kYear10000) return std::nullopt;
  int64_t days = seconds / kDaySeconds;
  int64_t rest = seconds % kDaySeconds;
  if (rest < 0) {
    rest += kDaySeconds;
    --days;
  }
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_index = (5 * day_of_year + 2) / 153;
  const int64_t day = day_of_year - (153 * month_index + 2) / 5 + 1;
  const int64_t month = month_index < 10 ? month_index + 3 : month_index - 9;
  const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", year, month, day, rest / 3600, rest / 60 % 60,
                     rest % 60);
}

Result<std::optional<int64_t>> parse_iso_time(std::string_view text) {
  const std::string_view whole = text;
  int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, micros = 0;
  if (!take_digits(text, 4, year) || !take(text, '-') || !take_digits(text, 2, month) || !take(text, '-') ||
      !take_digits(text, 2, day)) {
    return std::optional<int64_t>();
  }
  if (take(text, 'T') || take(text, ' ')) {
    if (!take_digits(text, 2, hour) || !take(text, ':') || !take_digits(text, 2, minute))
      return std::optional<int64_t>();
    if (take(text, ':') && !take_digits(text, 2, second)) return std::optional<int64_t>();
    if (!take_fraction(text, micros)) return std::optional<int64_t>();
  }
  take(text, 'Z');
  if (!text.empty()) return std::optional<int64_t>();
  if (month < 1 || month > 12) return not_a("a date", whole, "months go from 01 to 12");
  if (const int64_t days = days_in_month(year, month); day < 1 || day > days)
    return not_a("a date", whole, fmt::format("{:04}-{:02} has {} days", year, month, days));
  if (hour > 23 || minute > 59 || second > 59)
    return not_a("a time of day", whole, "times of day go from 00:00:00 to 23:59:59");
  const int64_t seconds = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  return std::optional(seconds * 1'000'000 + micros);
}

}  // namespace cellar
