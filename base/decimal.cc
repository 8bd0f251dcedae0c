// Decimal numbers: parsing and formatting.
#include "base/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/bytes.h"

namespace cellar {
namespace {

constexpr int64_t kExponentMax = INT32_MAX;
// Numbers whose point is within these bounds are written without an exponent.
constexpr int64_t kPlainPointMax = 31;
constexpr int64_t kPlainPointMin = -5;

Status no_decimal(std::string_view text, std::string_view why) {
  constexpr size_t kShown = 60;
  const std::string shown = escaped(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
  return Status::invalid_argument(fmt::format("\"{}\" {}", shown, why)).hinting("such as -12.50 or 1e3");
}

// Compares the magnitudes: below, at or above 0.
int compare_magnitudes(const Decimal& a, const Decimal& b) {
  if (a.digits.empty() || b.digits.empty())
    return static_cast<int>(b.digits.empty()) - static_cast<int>(a.digits.empty());
  if (a.point != b.point) return a.point < b.point ? -1 : 1;
  return a.digits.compare(b.digits);
}

// Returns the digits of a number that lie between the places `top` and `bottom`, which are powers of ten.
std::string aligned_digits(const Decimal& number, int64_t top, int64_t bottom) {
  std::string digits(static_cast<size_t>(top - number.point), '0');
  digits += number.digits;
  digits.resize(static_cast<size_t>(top - bottom), '0');
  return digits;
}

bool only_digits(std::string_view text) { return text.find_first_not_of("0123456789") == text.npos; }

}  // namespace

Decimal decimal_of(bool negative, std::string digits, int64_t scale) {
  Decimal number;
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return number;
  number.point = static_cast<int64_t>(digits.size()) - scale;
  digits.erase(digits.find_last_not_of('0') + 1);
  number.negative = negative;
  number.digits = std::move(digits);
  return number;
}

Result<Decimal> parse_decimal(std::string_view text) {
  constexpr std::string_view kNone = "is not a decimal number";
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  int64_t exponent = 0;
  if (const size_t e = rest.find_first_of("eE"); e != rest.npos) {
    std::string_view power = rest.substr(e + 1);
    rest = rest.substr(0, e);
    const bool down = power.starts_with('-');
    if (down || power.starts_with('+')) power.remove_prefix(1);
    if (power.empty() || !only_digits(power)) return no_decimal(text, kNone);
    const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (error != std::errc() || exponent > kExponentMax)
      return no_decimal(text, fmt::format("has an exponent beyond {}", kExponentMax));
    if (down) exponent = -exponent;
  }
  std::string digits(rest);
  int64_t scale = 0;
  if (const size_t point = digits.find('.'); point != digits.npos) {
    digits.erase(point, 1);
    scale = static_cast<int64_t>(digits.size() - point);
  }
  if (digits.empty() || !only_digits(digits)) return no_decimal(text, kNone);
  return decimal_of(negative, std::move(digits), scale - exponent);
}

std::string decimal_text(const Decimal& number) {
  if (number.digits.empty()) return "0";
  const std::string_view digits = number.digits;
  const auto count = static_cast<int64_t>(digits.size());
  std::string text(number.negative ? "-" : "");
  if (number.point > kPlainPointMax || number.point < kPlainPointMin) {
    text.append(digits.substr(0, 1));
    if (count > 1) text.append(".").append(digits.substr(1));
    return text.append(fmt::format("e{}", number.point - 1));
  }
  if (number.point <= 0)
    return text.append("0.").append(static_cast<size_t>(-number.point), '0').append(digits);
  const auto whole = static_cast<size_t>(number.point);
  text.append(digits.substr(0, whole));
  if (number.point >= count) return text.append(whole - digits.size(), '0');
  return text.append(".").append(digits.substr(whole));
}

Result<Decimal> sum_of(const Decimal& a, const Decimal& b, size_t digits_max) {
  if (a.digits.empty() || b.digits.empty()) return a.digits.empty() ? b : a;
  const auto bottom_of = [](const Decimal& n) { return n.point - static_cast<int64_t>(n.digits.size()); };
  const bool a_greater = compare_magnitudes(a, b) >= 0;
  const Decimal& greater = a_greater ? a : b;
  const Decimal& lesser = a_greater ? b : a;
  const int64_t top = greater.point + 1;  // room for a carry
  const int64_t bottom = std::min(bottom_of(a), bottom_of(b));
  if (top - bottom > static_cast<int64_t>(digits_max) + 1)
    return Status::limit(fmt::format("a sum of more than {} digits", digits_max));
  std::string digits = aligned_digits(greater, top, bottom);
  const std::string other = aligned_digits(lesser, top, bottom);
  const int sign = a.negative == b.negative ? 1 : -1;
  int carry = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    int digit = digits[i] - '0' + sign * (other[i] - '0') + carry;
    carry = digit > 9 ? 1 : digit < 0 ? -1 : 0;
    digit -= carry * 10;
    digits[i] = static_cast<char>('0' + digit);
  }
  return decimal_of(greater.negative, std::move(digits), -bottom);
}

bool is_less(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative;
  const int order = compare_magnitudes(a, b);
  return a.negative ? order > 0 : order < 0;
}

double nearest_double(const Decimal& number) {
  const std::string text = decimal_text(number);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) value = number.point > 0 ? HUGE_VAL : 0;
  return error == std::errc::result_out_of_range && number.negative ? -value : value;
}

}  // namespace cellar
