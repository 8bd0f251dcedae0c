// Numeric: OrderedBytes' numbers of variable length, which sort by value whatever their size. keys.h
// writes them into keys and reads them.
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
  Decimal number;  // for an infinity only the sign is valid, for a NaN nothing
};

// Parses a decimal as parse_decimal() does, or "inf" or "infinity" with an optional sign, or "nan". The
// case of letters does not matter. kInvalidArgument for any other text.
Result<Numeric> parse_numeric(std::string_view text);
// Returns "inf", "-inf", "nan", or decimal_text().
std::string numeric_text(const Numeric& value);

// Returns the number that HBase writes for a double: the shortest decimal that reads as the same double.
// It has at least two digits where a two-digit decimal fits, like Java's Double.toString since Java 19
// (4.9e-324, although 5e-324 is shorter).
Numeric numeric_of(double value);
// Returns the nearest double. kInvalidArgument if that double is infinite or zero and the number is not.
Result<double> double_of(const Numeric& value);
// Returns the number as an integer. kInvalidArgument if it is not an integer or does not fit.
Result<int64_t> int64_of(const Numeric& value);

// Rounds to 31 digits, half away from zero, as HBase does before it writes longer numbers.
Decimal rounded(Decimal number);

// Returns kInvalidArgument if the number has more than 31 digits, or more places before or after the
// point than HBase can write.
Status check_numeric(const Numeric& value);
// Appends the number's bytes, ascending. Appends nothing if check_numeric() fails.
Status append_numeric(const Numeric& value, std::string& to);
// Takes a number, ascending or descending, from the front of `from`. kCorruption for bytes that
// append_numeric does not write; then `from` stays unchanged. A number that was taken is written as the
// same bytes.
Result<Numeric> take_numeric(std::string_view& from);

}  // namespace cellar
