// Values in words, and back.
#include "tools/frame/value_form.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bytes.h"
#include "base/coding.h"
#include "tools/frame/operands.h"

namespace cellar {

namespace {

constexpr std::array<std::string_view, 10> kFormNames = {"escaped", "utf8",   "hex",   "long",    "int",
                                                         "short",   "double", "float", "boolean", "json"};

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return {};
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    uint8_t byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2) return {};
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

// Accepting and cutting out the blanks needs no more stack for a value that is nested a million deep.
bool append_json(std::string& to, std::string_view value) {
  if (!nlohmann::json::accept(value)) return false;
  bool quoted = false;
  bool escape = false;
  for (const char c : value) {
    if (quoted || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) to += c;
    if (!escape && c == '"') quoted = !quoted;
    escape = quoted && !escape && c == '\\';
  }
  return true;
}

// Nothing where the value has no such form.
std::optional<std::string> number_text(std::string_view value, ValueForm form) {
  const auto is = [&](ValueForm wanted, size_t bytes) { return form == wanted && value.size() == bytes; };
  if (is(ValueForm::kLong, 8)) return std::to_string(static_cast<int64_t>(load_be64(value.data())));
  if (is(ValueForm::kInt, 4)) return std::to_string(static_cast<int32_t>(load_be32(value.data())));
  if (is(ValueForm::kShort, 2)) return std::to_string(static_cast<int16_t>(load_be16(value.data())));
  if (is(ValueForm::kDouble, 8)) return fmt::format("{}", std::bit_cast<double>(load_be64(value.data())));
  if (is(ValueForm::kFloat, 4)) return fmt::format("{}", std::bit_cast<float>(load_be32(value.data())));
  if (is(ValueForm::kBoolean, 1)) return value[0] != 0 ? "true" : "false";
  return std::nullopt;
}

// As HBase's Bytes.toBytes.
template <class Number>
Result<std::string> number_bytes(std::string_view text, std::string_view what) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return invalid_operand(text, what, "");
  std::string bytes;
  if constexpr (sizeof(Number) == 8) append_be64(bytes, std::bit_cast<uint64_t>(number));
  if constexpr (sizeof(Number) == 4) append_be32(bytes, std::bit_cast<uint32_t>(number));
  if constexpr (sizeof(Number) == 2) append_be16(bytes, std::bit_cast<uint16_t>(number));
  return bytes;
}

}  // namespace

std::vector<std::string> value_forms() { return {kFormNames.begin(), kFormNames.end()}; }

ValueForm value_form_of(std::string_view word) {
  for (size_t i = 0; i < kFormNames.size(); ++i)
    if (kFormNames[i] == word) return static_cast<ValueForm>(i);
  return ValueForm::kEscaped;
}

void append_value(std::string& to, std::string_view value, ValueForm form) {
  if (form == ValueForm::kUtf8) {
    to += value;
  } else if (form == ValueForm::kHex) {
    to += hex(value);
  } else if (const std::optional<std::string> number = number_text(value, form)) {
    to += *number;
  } else if (form != ValueForm::kJson || !append_json(to, value)) {
    append_escaped(to, value);
  }
}

Result<std::string> parse_value(std::string_view text, ValueForm form) {
  switch (form) {
    case ValueForm::kEscaped:
      return parse_bytes(text);
    case ValueForm::kUtf8:
      return std::string(text);
    case ValueForm::kHex:
      if (std::optional<std::string> parsed = from_hex(text)) return *std::move(parsed);
      return invalid_operand(text, "hexadecimal", "two digits for each byte");
    case ValueForm::kLong:
      return number_bytes<int64_t>(text, "a whole number of 8 bytes");
    case ValueForm::kInt:
      return number_bytes<int32_t>(text, "a whole number of 4 bytes");
    case ValueForm::kShort:
      return number_bytes<int16_t>(text, "a whole number of 2 bytes");
    case ValueForm::kDouble:
      return number_bytes<double>(text, "a number");
    case ValueForm::kFloat:
      return number_bytes<float>(text, "a number of 4 bytes");
    case ValueForm::kBoolean:
      if (text == "true") return std::string("\xFF");  // as HBase's Bytes.toBytes
      if (text == "false") return std::string(1, '\0');
      return invalid_operand(text, "true or false", "");
    case ValueForm::kJson:
      if (nlohmann::json::accept(text)) return std::string(text);
      return invalid_operand(text, "JSON", "write texts and names of members in double quotes");
  }
  return std::string();
}

}  // namespace cellar
