// How a value is shown and taken: as text, as a number in HBase's bytes, as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// kEscaped is the form of cell streams. Numbers are those of HBase's Bytes: big-endian, of 8 (long, double),
// 4 (int, float) and 2 bytes (short); a boolean is one byte, 0 or not.
enum class ValueForm : uint8_t {
  kEscaped,
  kUtf8,
  kHex,
  kLong,
  kInt,
  kShort,
  kDouble,
  kFloat,
  kBoolean,
  kJson
};
// The words of --as, the first one the default.
std::vector<std::string> value_forms();
// kEscaped for what is none.
ValueForm value_form_of(std::string_view word);
// The value in that form, on one line but for kUtf8; JSON without blanks. Escaped where it has no such form:
// a counter that is not 8 bytes long, text that is not JSON.
void append_value(std::string& to, std::string_view value, ValueForm form);
// The bytes of what is written in that form; kInvalidArgument for text that is not.
Result<std::string> parse_value(std::string_view text, ValueForm form);

}  // namespace cellar
