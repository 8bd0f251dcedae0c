// Keys that people read: decimal numbers of one width, and bytes as hex digits.
#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/bytes.h"
#include "cellar/keys.h"

namespace cellar {
namespace {

constexpr size_t kDigitsMax = std::numeric_limits<int64_t>::digits10 + 1;

// Returns the value of a hex digit, or 16 for another character.
unsigned digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const auto letter = static_cast<unsigned>((c | 0x20) - 'a');
  return letter < 6 ? letter + 10 : 16;
}

}  // namespace

Result<std::string> zero_padded(int64_t value, size_t digits) {
  if (digits < 1 || digits > kDigitsMax)
    return Status::invalid_argument(
        fmt::format("a padded number of {} digits: 1 to {} are possible", digits, kDigitsMax));
  if (value < 0)
    return Status::invalid_argument(fmt::format("{} cannot be padded, since it is negative", value))
        .hinting("KeyBuilder::int64 sorts negative numbers");
  std::string text = fmt::format("{:0{}}", value, digits);
  if (text.size() > digits) return Status::limit(fmt::format("{} has more than {} digits", value, digits));
  return text;
}

Result<int64_t> int64_of_padded(std::string_view digits) {
  int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const bool is_digits = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits.empty() && digits.size() <= kDigitsMax && is_digits) {
    if (const auto [at, error] = std::from_chars(digits.data(), end, value);
        error == std::errc() && at == end)
      return value;
    return Status::invalid_argument(fmt::format("{} is greater than {}", digits, INT64_MAX));
  }
  return Status::invalid_argument(
      fmt::format("\"{}\" is not a padded number: 1 to {} digits", escaped(digits), kDigitsMax));
}

std::string hex_text(std::string_view bytes) { return hex(bytes); }

Result<std::string> bytes_of_hex(std::string_view digits) {
  if (digits.size() % 2 != 0)
    return Status::invalid_argument(
        fmt::format("{} hex digits are no whole number of bytes: two make a byte", digits.size()));
  std::string bytes;
  for (size_t at = 0; at < digits.size(); at += 2) {
    const unsigned high = digit_of(digits[at]);
    const unsigned low = digit_of(digits[at + 1]);
    if (high > 15 || low > 15)
      return Status::invalid_argument(fmt::format("\"{}\" at place {} is not a hex digit",
                                                  escaped(digits.substr(high > 15 ? at : at + 1, 1)),
                                                  high > 15 ? at : at + 1));
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

}  // namespace cellar
