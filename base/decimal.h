// Decimal: a decimal number of any size, parsed from text and written as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

// The value is 0.digits times ten to the power of `point`. Empty digits mean zero, which has no sign.
struct Decimal {
  bool negative = false;
  std::string digits;  // neither begins nor ends with 0
  int64_t point = 0;
  bool operator==(const Decimal&) const = default;
};

// Returns the number with the given digits, `scale` of which are after the decimal point. `digits` may be
// empty and may have leading and trailing zeros.
Decimal decimal_of(bool negative, std::string digits, int64_t scale);

// Parses [+-] digits [. digits] [e [+-] digits], as Java's BigDecimal does; at least one side of the point
// needs a digit. Error: kInvalidArgument for any other text, or if the magnitude of the exponent exceeds
// 2147483647.
Result<Decimal> parse_decimal(std::string_view text);

// Returns the shortest text of the number, such as "-12.5". Numbers from 10^31 on, and below 0.000001,
// have an exponent: "1e400", "1.25e-7". The text is at most about 40 characters longer than the digits.
std::string decimal_text(const Decimal& number);

// Returns the exact sum. kLimit if the digits of both numbers, written below each other, need more than
// `digits_max` places.
Result<Decimal> sum_of(const Decimal& a, const Decimal& b, size_t digits_max);
// Returns whether a is less than b.
bool is_less(const Decimal& a, const Decimal& b);
// Returns the nearest double: 0 or an infinity beyond the range of doubles.
double nearest_double(const Decimal& number);

}  // namespace cellar
