// Numerics in keys: a mark for sign and size, an exponent of 100, and digits to the base of 100.
//
//   zero             0x15
//   |value| < 1      0x16      ~varint(-E)  M
//   up to 10^20      0x17 + E               M
//   from there on    0x22      varint(E)    M
//   infinity         0x23
//   NaN              0x26
//
// |value| is 0.M, to the base of 100, times 100 to the power of E, with the smallest possible E. M has a
// byte for each base-100 digit d: 2d + 1, except 2d for the last digit. Negative numbers have their mark
// mirrored at the mark of zero and all other bytes inverted. Descending fields have all bytes inverted.
#include "keys/numeric_key.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "cellar/keys.h"

namespace cellar {
namespace {

constexpr uint8_t kZero = 0x15;
constexpr uint8_t kSmall = 0x16;
constexpr uint8_t kMedium = 0x17;  // the mark is this plus E
constexpr uint8_t kLarge = 0x22;
constexpr uint8_t kInfinite = 0x23;
constexpr uint8_t kNan = 0x26;

constexpr size_t kDigitPairsMax = (kDecimalDigitsMax + 1) / 2;
constexpr int64_t kMediumMax = 10;  // the greatest E with a mark of its own
// Limit of HBase's own arithmetic for the number of digits before the point, and after it.
constexpr int64_t kPlacesMax = 2147483646;

uint8_t mirrored(uint8_t mark) { return static_cast<uint8_t>(2 * kZero - mark); }

bool same_but_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && lower_ascii(text) == lower;
}

// Returns the exponent of 100 for 0.digits times ten to the power of `point`.
int64_t hundreds_of(int64_t point) { return (point + (point > 0 ? 1 : 0)) / 2; }

Status check_places(const Decimal& number) {
  if (number.digits.size() > kDecimalDigitsMax)
    return Status::invalid_argument(
               fmt::format("a decimal of {} digits: at most {}", number.digits.size(), kDecimalDigitsMax))
        .hinting("rounded_decimal() rounds as HBase does");
  if (number.point > kPlacesMax)
    return Status::invalid_argument(
        fmt::format("a decimal of {} digits before its point: at most {}", number.point, kPlacesMax));
  const int64_t behind = static_cast<int64_t>(number.digits.size()) - number.point;
  if (behind > kPlacesMax)
    return Status::invalid_argument(
        fmt::format("a decimal of {} digits after its point: at most {}", behind, kPlacesMax));
  return {};
}

// VarintForm: one form of SQLite's varint, which sorts by value; the forms cover the range of the
// exponents.
struct VarintForm {
  uint8_t first;   // the lowest first byte of this form
  uint32_t least;  // the lowest value of this form
  uint32_t minus;  // subtracted from the value
  uint8_t behind;  // bytes after the first byte
};
constexpr VarintForm kForms[] = {
    {251, 1u << 24, 0, 4}, {250, 67824, 0, 3}, {249, 2288, 2288, 2}, {241, 241, 240, 1}, {0, 0, 0, 0}};

const VarintForm& form_of_value(uint32_t value) {
  const VarintForm* form = kForms;
  while (value < form->least) ++form;
  return *form;
}

void append_varint(std::string& to, uint32_t value, uint8_t mask) {
  const VarintForm& form = form_of_value(value);
  const uint32_t rest = value - form.minus;
  const bool shares_first = form.behind <= 1;  // the first byte holds bits of the value
  const uint32_t first = form.first + (shares_first ? rest >> (8 * form.behind) : 0);
  to.push_back(static_cast<char>(first ^ mask));
  for (int byte = form.behind - 1; byte >= 0; --byte)
    to.push_back(static_cast<char>((rest >> (8 * byte) & 0xffu) ^ mask));
}

// Bytes: reads bytes that may be inverted. The caller must check empty() before next().
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}
  void invert(bool inverted) { mask_ = inverted ? 0xff : 0; }
  bool empty() const { return rest_.empty(); }
  uint8_t next() {
    const auto byte = static_cast<uint8_t>(static_cast<uint8_t>(rest_.front()) ^ mask_);
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  uint8_t mask_ = 0;
};

Status cut_off() { return Status::corruption("the key ends inside a field of a decimal"); }
Status unheard_of(std::string_view what) {
  return Status::corruption(fmt::format("a field of a decimal {}", what));
}

Result<uint32_t> take_varint(Bytes& bytes) {
  if (bytes.empty()) return cut_off();
  const uint8_t first = bytes.next();
  if (first > kForms[0].first) return unheard_of("with an exponent out of bounds");
  const VarintForm* form = kForms;
  while (first < form->first) ++form;
  uint32_t value = form->behind <= 1 ? first - form->first : 0;
  for (int i = 0; i < form->behind; ++i) {
    if (bytes.empty()) return cut_off();
    value = value << 8 | bytes.next();
  }
  if (value > UINT32_MAX - form->minus || value + form->minus < form->least)
    return unheard_of("with an exponent in more bytes than needed");
  return value + form->minus;
}

// Returns the number with exponent E = `hundreds` and the mantissa M, which it takes from `bytes`.
Result<Decimal> take_digits(Bytes& bytes, bool negative, int64_t hundreds) {
  std::string digits;
  for (bool last = false; !last;) {
    if (bytes.empty()) return cut_off();
    if (digits.size() == 2 * kDigitPairsMax) return unheard_of("with too many digits");
    const uint8_t byte = bytes.next();
    const uint8_t digit = byte / 2;
    last = byte % 2 == 0;
    if (digit > 99) return unheard_of("with a digit of 100 above 99");
    if (digit == 0 && (digits.empty() || last)) return unheard_of("that begins or ends with zeros");
    digits.push_back(static_cast<char>('0' + digit / 10));
    digits.push_back(static_cast<char>('0' + digit % 10));
  }
  const int64_t scale = static_cast<int64_t>(digits.size()) - 2 * hundreds;
  Decimal number = decimal_of(negative, std::move(digits), scale);
  if (!check_places(number).ok()) return unheard_of("out of bounds");
  return number;
}

// Returns the exponent E from the mark and the varint after it. For numbers below 1 the varint is
// inverted once more.
Result<int64_t> take_hundreds(Bytes& bytes, uint8_t mark, bool inverted) {
  if (mark > kMedium && mark <= kMedium + kMediumMax) return mark - kMedium;
  if (mark != kSmall && mark != kLarge) return unheard_of("with an unknown mark");
  const bool small = mark == kSmall;
  bytes.invert(inverted != small);
  CELLAR_TRY_ASSIGN(const uint32_t value, take_varint(bytes));
  bytes.invert(inverted);
  if (!small && value <= kMediumMax) return unheard_of("with an exponent in the wrong form");
  return small ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

}  // namespace

Result<Numeric> parse_numeric(std::string_view text) {
  Numeric value;
  std::string_view name = text;
  const bool negative = name.starts_with('-');
  if (negative || name.starts_with('+')) name.remove_prefix(1);
  if (same_but_case(name, "inf") || same_but_case(name, "infinity")) {
    value.kind = Numeric::Kind::kInfinity;
    value.number.negative = negative;
  } else if (same_but_case(text, "nan")) {
    value.kind = Numeric::Kind::kNan;
  } else {
    CELLAR_TRY_ASSIGN(value.number, parse_decimal(text));
  }
  return value;
}

std::string numeric_text(const Numeric& value) {
  if (value.kind == Numeric::Kind::kNan) return "nan";
  if (value.kind == Numeric::Kind::kInfinity) return value.number.negative ? "-inf" : "inf";
  return decimal_text(value.number);
}

Numeric numeric_of(double value) {
  Numeric numeric;
  if (std::isnan(value)) {
    numeric.kind = Numeric::Kind::kNan;
    return numeric;
  }
  if (std::isinf(value)) {
    numeric.kind = Numeric::Kind::kInfinity;
    numeric.number.negative = value < 0;
    return numeric;
  }
  std::string text = fmt::format("{}", value);
  numeric.number = parse_decimal(text).value();
  if (numeric.number.digits.size() == 1) {
    text = fmt::format("{:.1e}", value);
    Numeric longer{.number = parse_decimal(text).value()};
    if (const Result<double> same = double_of(longer); same.ok() && *same == value) return longer;
  }
  return numeric;
}

Result<double> double_of(const Numeric& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool negative = value.number.negative;
  if (value.kind == Numeric::Kind::kNan) return std::numeric_limits<double>::quiet_NaN();
  if (value.kind == Numeric::Kind::kInfinity) return negative ? -kInfinity : kInfinity;
  if (value.number.digits.empty()) return 0.0;
  const std::string text = decimal_text(value.number);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0 || std::isinf(number))
    return Status::invalid_argument(fmt::format("{} is out of the range of a double", text));
  return number;
}

Result<int64_t> int64_of(const Numeric& value) {
  const Decimal& number = value.number;
  const auto unfit = [&] {
    return Status::invalid_argument(fmt::format("{} is not a whole number of 64 bits", numeric_text(value)));
  };
  if (value.kind != Numeric::Kind::kNumber) return unfit();
  if (number.digits.empty()) return 0;
  if (number.point < static_cast<int64_t>(number.digits.size()) || number.point > 19) return unfit();
  uint64_t amount = 0;  // 19 digits fit
  for (size_t i = 0; i < static_cast<size_t>(number.point); ++i)
    amount = amount * 10 + static_cast<uint64_t>(i < number.digits.size() ? number.digits[i] - '0' : 0);
  if (amount > static_cast<uint64_t>(INT64_MAX) + (number.negative ? 1 : 0)) return unfit();
  return static_cast<int64_t>(number.negative ? 0 - amount : amount);
}

Decimal rounded(Decimal number) {
  if (number.digits.size() <= kDecimalDigitsMax) return number;
  const bool up = number.digits[kDecimalDigitsMax] >= '5';
  number.digits.resize(kDecimalDigitsMax);
  if (up) {
    // Trailing nines round up to zeros, which the digits do not include.
    number.digits.erase(number.digits.find_last_not_of('9') + 1);
    if (number.digits.empty()) {
      number.digits = "1";
      number.point += 1;
    } else {
      number.digits.back() += 1;
    }
  }
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  return number;
}

Status check_numeric(const Numeric& value) {
  return value.kind == Numeric::Kind::kNumber ? check_places(value.number) : Status();
}

Status append_numeric(const Numeric& value, std::string& to) {
  const Decimal& number = value.number;
  const bool negative = number.negative && value.kind != Numeric::Kind::kNan;
  const auto signed_mark = [&](int64_t mark) {
    const auto byte = static_cast<uint8_t>(mark);
    to.push_back(static_cast<char>(negative ? mirrored(byte) : byte));
  };
  if (value.kind != Numeric::Kind::kNumber) {
    signed_mark(value.kind == Numeric::Kind::kNan ? kNan : kInfinite);
    return {};
  }
  if (number.digits.empty()) {
    signed_mark(kZero);
    return {};
  }
  CELLAR_TRY(check_places(number));
  const int64_t hundreds = hundreds_of(number.point);
  const uint8_t mask = negative ? 0xff : 0;
  if (number.point <= 0) {
    signed_mark(kSmall);
    append_varint(to, static_cast<uint32_t>(-hundreds), static_cast<uint8_t>(~mask));
  } else if (hundreds <= kMediumMax) {
    signed_mark(kMedium + hundreds);
  } else {
    signed_mark(kLarge);
    append_varint(to, static_cast<uint32_t>(hundreds), mask);
  }
  std::string digits = number.digits;
  if (number.point % 2 != 0) digits.insert(0, 1, '0');
  if (digits.size() % 2 != 0) digits.push_back('0');
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int digit = (digits[i] - '0') * 10 + (digits[i + 1] - '0');
    const int byte = 2 * digit + (i + 2 < digits.size() ? 1 : 0);
    to.push_back(static_cast<char>(byte ^ mask));
  }
  return {};
}

Result<Numeric> take_numeric(std::string_view& from) {
  Bytes bytes(from);
  if (bytes.empty()) return Status::corruption("the next field is not a field of a decimal");
  uint8_t mark = bytes.next();
  const bool descending = mark >= 0x80;
  if (descending) mark = static_cast<uint8_t>(~mark);
  Numeric value;
  if (mark == kNan) {
    value.kind = Numeric::Kind::kNan;
  } else if (mark < mirrored(kInfinite) || mark > kInfinite) {
    return Status::corruption("the next field is not a field of a decimal");
  } else if (mark != kZero) {
    const bool negative = mark < kZero;
    if (negative) mark = mirrored(mark);
    value.number.negative = negative;
    if (mark == kInfinite) {
      value.kind = Numeric::Kind::kInfinity;
    } else {
      const bool inverted = negative != descending;
      bytes.invert(inverted);
      CELLAR_TRY_ASSIGN(const int64_t hundreds, take_hundreds(bytes, mark, inverted));
      CELLAR_TRY_ASSIGN(value.number, take_digits(bytes, negative, hundreds));
    }
  }
  from = bytes.rest();
  return value;
}

}  // namespace cellar
