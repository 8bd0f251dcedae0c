// BigDecimal: decimal numbers of any size, compared digit by digit.
#include <fmt/format.h>

#include "base/coding.h"
#include "base/decimal.h"
#include "filter/parts.h"

namespace cellar {
namespace {

constexpr size_t kUnscaledBytesMax = 4096;

std::strong_ordering compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative)
    return a.negative ? std::strong_ordering::less : std::strong_ordering::greater;
  if (a.digits.empty() || b.digits.empty()) return b.digits.empty() <=> a.digits.empty();
  const std::strong_ordering sizes =
      a.point != b.point ? a.point <=> b.point : a.digits.compare(b.digits) <=> 0;
  return a.negative ? 0 <=> sizes : sizes;
}

// Two's complement, most significant byte first, in decimal: divided by 10^9 until nothing is left.
std::string digits_of(std::string_view bytes, bool negative) {
  std::vector<uint32_t> words((bytes.size() + 3) / 4, 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte =
        static_cast<uint8_t>(negative ? ~bytes[bytes.size() - 1 - i] : bytes[bytes.size() - 1 - i]);
    words[i / 4] |= static_cast<uint32_t>(byte) << (8 * (i % 4));
  }
  if (negative) {  // of the complement; it has room for one more
    for (uint32_t& word : words)
      if (++word != 0) break;
  }
  std::string digits;
  while (!words.empty()) {
    uint64_t rest = 0;
    for (size_t i = words.size(); i-- > 0;) {
      rest = rest << 32 | words[i];
      words[i] = static_cast<uint32_t>(rest / 1'000'000'000);
      rest %= 1'000'000'000;
    }
    digits.insert(0, fmt::format("{:09}", rest));
    while (!words.empty() && words.back() == 0) words.pop_back();
  }
  return digits;
}

class BigDecimal final : public Comparator {
 public:
  BigDecimal(std::string_view text, Decimal number) : text_(text), number_(std::move(number)) {}
  std::partial_ordering compare(std::string_view stored) const override {
    if (stored.size() < 5 || stored.size() > 4 + kUnscaledBytesMax) return std::partial_ordering::unordered;
    const auto scale = static_cast<int32_t>(load_be32(stored.data()));
    const std::string_view unscaled = stored.substr(4);
    const bool negative = static_cast<uint8_t>(unscaled.front()) >= 0x80;
    return cellar::compare(decimal_of(negative, digits_of(unscaled, negative), scale), number_);
  }
  std::string to_text() const override { return "bigdecimal:" + text_; }

 private:
  std::string text_;
  Decimal number_;
};

}  // namespace

Result<ComparatorPtr> big_decimal(std::string_view number) {
  CELLAR_TRY_ASSIGN(Decimal parsed, parse_decimal(number));
  return ComparatorPtr(std::make_shared<BigDecimal>(number, std::move(parsed)));
}

}  // namespace cellar
