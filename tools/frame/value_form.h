// How a value is shown and taken: as text, as a number in HBase's bytes, as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// Cell streams have the form kEscaped: ASCII, other bytes as \xHH. The form kText leaves printable characters
// of UTF-8 as they are. The form kUtf8 prints the bytes themselves. Numbers are those of HBase's Bytes,
// big-endian. Long and double have 8 bytes, int and float 4, short 2. A boolean is one byte, 0 or not.
enum class ValueForm : uint8_t {
  kEscaped,
  kText,
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
// Returns the words of --as where values are read; the first one is the default.
std::vector<std::string> value_forms();
// Returns the form of that name, kEscaped for any other word.
ValueForm value_form_of(std::string_view word);
// Appends the value in that form, on one line except in kUtf8; JSON without blanks. A value that has no such
// form is appended escaped: a counter that is not 8 bytes long, text that is not JSON.
void append_value(std::string& to, std::string_view value, ValueForm form);
// Returns the bytes of a value that is written in that form. kInvalidArgument if it is not.
Result<std::string> parse_value(std::string_view text, ValueForm form);

}  // namespace cellar
