// Numeric: OrderedBytes' numbers of variable length, which sort by value whatever their size. keys.h puts
// them into keys and takes them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "cellar/status.h"

namespace cellar {

struct Numeric {
  enum class Kind : uint8_t { kNumber, kInfinity, kNan };
  Kind kind = Kind::kNumber;
  Decimal number;  // of an infinity only the sign counts, of a NaN nothing
};

// A decimal as parse_decimal() takes it; "inf" or "infinity", with a sign or none; "nan". Letters of any
// case.
Result<Numeric> parse_numeric(std::string_view text);
// "inf", "-inf", "nan", or decimal_text().
std::string numeric_text(const Numeric& value);

// What HBase makes of a double: the shortest decimal that is read as the same double, but of at least two
// digits, as Java's Double.toString does since Java 19 (4.9e-324, where 5e-324 is shorter).
Numeric numeric_of(double value);
// The nearest double. kInvalidArgument where that is infinite or zero and the number is not.
Result<double> double_of(const Numeric& value);
// kInvalidArgument for what is not whole or does not fit.
Result<int64_t> int64_of(const Numeric& value);

// To 31 digits, half away from zero: what HBase does to longer ones before it writes them.
Decimal rounded(Decimal number);

// kInvalidArgument for more than 31 digits, and for more places before or behind the point than HBase can
// write.
Status check_numeric(const Numeric& value);
// Appends the number's bytes, ascending; nothing where check_numeric() fails.
Status append_numeric(const Numeric& value, std::string& to);
// Takes a number, ascending or descending, from the front of `from`. kCorruption, and nothing taken, for what
// append_numeric does not write: what is taken is written as the same bytes.
Result<Numeric> take_numeric(std::string_view& from);

}  // namespace cellar
