// Comparators as messages: by the text that each comparator writes of itself, "type:value".
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "base/decimal.h"
#include "hbase/wire/filter.pb.h"
#include "hbase/wire/filter_names.h"

namespace cellar::hbase::wire {
namespace {

// Flags of java.util.regex.Pattern.
constexpr int32_t kCaseInsensitive = 2;
constexpr int32_t kDotMatchesAll = 32;

// Divides a number in decimal by 256, and returns the remainder.
uint8_t divide_by_256(std::string& digits) {
  uint32_t rest = 0;
  for (char& digit : digits) {
    rest = rest * 10 + static_cast<uint32_t>(digit - '0');
    digit = static_cast<char>('0' + rest / 256);
    rest %= 256;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return static_cast<uint8_t>(rest);
}

// Java's BigDecimal as HBase's Bytes writes it: the scale in 4 bytes, then the digits as an integer in two's
// complement.
Result<std::string> big_decimal_bytes(std::string_view text) {
  CELLAR_TRY_ASSIGN(const Decimal number, parse_decimal(text));
  const int64_t scale = static_cast<int64_t>(number.digits.size()) - number.point;
  if (scale != static_cast<int32_t>(scale))
    return Status::not_supported("HBase has no decimal number with so many places: " + std::string(text));
  std::string bytes;  // the least significant byte first
  for (std::string digits = number.digits; !digits.empty();)
    bytes += static_cast<char>(divide_by_256(digits));
  bytes += '\0';  // the sign
  if (number.negative) {
    uint32_t carry = 1;
    for (char& byte : bytes) {
      carry += static_cast<uint8_t>(~byte);
      byte = static_cast<char>(carry & 0xff);
      carry >>= 8;
    }
  }
  std::ranges::reverse(bytes);
  std::string result;
  append_be32(result, static_cast<uint32_t>(scale));
  return result + bytes;
}

void set(WireComparator& to, std::string_view name, const google::protobuf::MessageLite& message) {
  to.set_class_name(std::string(kFilterPackage) + std::string(name));
  to.set_message(message.SerializeAsString());
}

void set_bytes(WireComparator& to, std::string_view name, std::string_view bytes) {
  BytesComparator message;
  message.mutable_compared()->set_value(std::string(bytes));
  set(to, name, message);
}

void set_bits(WireComparator& to, std::string_view bytes, BitComparator::Operation operation) {
  BitComparator message;
  message.mutable_compared()->set_value(std::string(bytes));
  message.set_operation(operation);
  set(to, "BitComparator", message);
}

void set_regex(WireComparator& to, std::string_view pattern, int32_t flags) {
  RegexComparator message;
  message.set_pattern(std::string(pattern));
  message.set_flags(flags);
  message.set_charset("UTF-8");
  message.set_engine("JAVA");
  set(to, "RegexStringComparator", message);
}

template <class Number>
Status parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return Status::invalid_argument("a comparator has no number: " + std::string(text));
}

Status set_number(WireComparator& to, std::string_view type, std::string_view value) {
  if (type == "long") {
    int64_t number = 0;
    CELLAR_TRY(parse(value, number));
    std::string bytes;
    append_be64(bytes, static_cast<uint64_t>(number));
    set_bytes(to, "LongComparator", bytes);
    return {};
  }
  CELLAR_TRY_ASSIGN(const std::string bytes, big_decimal_bytes(value));
  set_bytes(to, "BigDecimalComparator", bytes);
  return {};
}

Status set_component(WireComparator& to, std::string_view value) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos) return Status::invalid_argument("binarycomponent has no offset");
  ComponentComparator message;
  uint32_t offset = 0;
  CELLAR_TRY(parse(value.substr(0, colon), offset));
  message.set_offset(offset);
  message.set_value(std::string(value.substr(colon + 1)));
  set(to, "BinaryComponentComparator", message);
  return {};
}

}  // namespace

Status to_wire_comparator(std::string_view text, WireComparator& to) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (type == "long" || type == "bigdecimal") return set_number(to, type, value);
  if (type == "binarycomponent") return set_component(to, value);
  if (type == "binary") {
    set_bytes(to, "BinaryComparator", value);
  } else if (type == "binaryprefix") {
    set_bytes(to, "BinaryPrefixComparator", value);
  } else if (type == "null") {
    set(to, "NullComparator", NoFields());
  } else if (type == "bitand") {
    set_bits(to, value, BitComparator::AND);
  } else if (type == "bitor") {
    set_bits(to, value, BitComparator::OR);
  } else if (type == "bitxor") {
    set_bits(to, value, BitComparator::XOR);
  } else if (type == "regexstring") {
    set_regex(to, value, kDotMatchesAll);
  } else if (type == "regexstringnocase") {
    set_regex(to, value, kDotMatchesAll | kCaseInsensitive);
  } else if (type == "substring") {
    SubstringComparator message;
    message.set_text(std::string(value));
    set(to, "SubstringComparator", message);
  } else {
    return Status::not_supported(fmt::format("HBase's servers have no comparator \"{}\"", type))
        .hinting("use the comparators of cellar/filter.h");
  }
  return {};
}

}  // namespace cellar::hbase::wire
