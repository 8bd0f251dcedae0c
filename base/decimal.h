// Decimal: a decimal number of any size, from a text and as one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

// 0.digits times ten to the power of `point`; no digits: zero, which has no sign.
struct Decimal {
  bool negative = false;
  std::string digits;  // neither begins nor ends with 0
  int64_t point = 0;
  bool operator==(const Decimal&) const = default;
};

// The number of these digits (any, also none), `scale` of them behind the point.
Decimal decimal_of(bool negative, std::string digits, int64_t scale);

// [+-] digits [. digits] [e [+-] digits], a digit at least on one side of the point, as Java's BigDecimal
// takes it. kInvalidArgument for any other text, and where the number behind the e is beyond 2147483647.
Result<Decimal> parse_decimal(std::string_view text);

// The shortest text of it: "-12.5"; from 10^31 on, and below 0.000001, "1e400", "1.25e-7". Never longer than
// its digits and some 40 characters.
std::string decimal_text(const Decimal& number);

}  // namespace cellar
