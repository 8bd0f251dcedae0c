// Byte strings for machines and for people: comparing, escaping, quoting, units.
#include "base/bytes.h"

#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/coding.h"

namespace cellar {

namespace {

constexpr char kUpperDigits[] = "0123456789ABCDEF";
constexpr char kLowerDigits[] = "0123456789abcdef";

// Returns the value of a hexadecimal digit, or -1.
int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool is_plain(char c) { return c >= 0x20 && c <= 0x7e && c != '\\'; }

// Returns for example "1.5 MiB": one decimal below 100, no decimals above, and no ".0".
std::string scaled(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, value < 99.95 ? "%.1f" : "%.0f", value);
  std::string number(text);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number + " " + unit;
}

}  // namespace

size_t common_prefix(std::string_view a, std::string_view b) {
  const size_t limit = a.size() < b.size() ? a.size() : b.size();
  size_t at = 0;
  for (; at + 8 <= limit; at += 8) {
    const uint64_t difference = load_le64(a.data() + at) ^ load_le64(b.data() + at);
    if (difference != 0) return at + static_cast<size_t>(std::countr_zero(difference)) / 8;
  }
  while (at < limit && a[at] == b[at]) ++at;
  return at;
}

void append_escaped(std::string& to, std::string_view bytes) {
  for (const char c : bytes) {
    if (is_plain(c)) {
      to.push_back(c);
    } else {
      const auto byte = static_cast<uint8_t>(c);
      const char text[4] = {'\\', 'x', kUpperDigits[byte >> 4], kUpperDigits[byte & 15]};
      to.append(text, sizeof text);
    }
  }
}

std::string escaped(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  append_escaped(text, bytes);
  return text;
}

Result<std::string> unescaped(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      bytes.push_back(text[at++]);
      continue;
    }
    const int high = at + 3 < text.size() && text[at + 1] == 'x' ? digit_value(text[at + 2]) : -1;
    const int low = high >= 0 ? digit_value(text[at + 3]) : -1;
    if (low < 0) {
      return Status::invalid_argument("backslash without x and two hexadecimal digits at offset " +
                                      std::to_string(at))
          .hinting("a backslash itself is written \\x5C");
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
    at += 4;
  }
  return bytes;
}

void append_json_string(std::string& to, std::string_view text) {
  to.push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        to += "\\\"";
        break;
      case '\\':
        to += "\\\\";
        break;
      case '\n':
        to += "\\n";
        break;
      case '\r':
        to += "\\r";
        break;
      case '\t':
        to += "\\t";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          to += "\\u00";
          to.push_back(kLowerDigits[static_cast<uint8_t>(c) >> 4]);
          to.push_back(kLowerDigits[static_cast<uint8_t>(c) & 15]);
        } else {
          to.push_back(c);
        }
    }
  }
  to.push_back('"');
}

std::string json_string(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return json;
}

std::string prefix_successor(std::string_view prefix) {
  size_t keep = prefix.size();
  while (keep > 0 && static_cast<uint8_t>(prefix[keep - 1]) == 0xff) --keep;
  std::string successor(prefix.substr(0, keep));
  if (keep > 0) successor[keep - 1] = static_cast<char>(static_cast<uint8_t>(successor[keep - 1]) + 1);
  return successor;
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return scaled(value, kUnits[unit]);
}

std::string human_count(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string human_micros(int64_t micros) {
  const bool negative = micros < 0;
  const double value = negative ? -static_cast<double>(micros) : static_cast<double>(micros);
  std::string text;
  if (value < 1000) {
    text = scaled(value, "µs");
  } else if (value < 999'950) {
    text = scaled(value / 1e3, "ms");
  } else if (value < 120e6) {
    text = scaled(value / 1e6, "s");
  } else if (value < 7200e6) {
    text = scaled(value / 60e6, "min");
  } else {
    text = scaled(value / 3600e6, "h");
  }
  return negative ? "-" + text : text;
}

std::string lower_ascii(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lowered;
}

std::string upper_ascii(std::string_view text) {
  std::string raised(text);
  for (char& c : raised) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return raised;
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower_ascii(a) == lower_ascii(b);
}

bool parse_scaled(std::string_view text, int64_t& value) {
  int shift = 0;
  if (!text.empty()) {
    const char unit = static_cast<char>(text.back() | 0x20);
    shift = unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : 0;
    if (shift != 0) text.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() &&
         !__builtin_mul_overflow(value, int64_t{1} << shift, &value);
}

std::string hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    text.push_back(kLowerDigits[static_cast<uint8_t>(c) >> 4]);
    text.push_back(kLowerDigits[static_cast<uint8_t>(c) & 15]);
  }
  return text;
}

}  // namespace cellar
