// KeyField: one field of a KeySchema: its type, its bytes in a key, and its value as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "cellar/keys.h"
#include "cellar/status.h"

namespace cellar {

enum class KeyFieldKind : uint8_t {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat32,
  kFloat64,
  kDecimal,
  kText,
  kBlob,
  kLastBlob,
  kSized,
  kRaw,  // width 0: to the end of the key
  kHex,
  kZeroPadded,
  kPlainInt16,
  kPlainInt32,
  kPlainInt64,
  kPlainFloat32,
  kPlainFloat64,
  kReversedTime,
  kPackedQuadkey
};

// The value of a field. Text for decimals, quadkeys and bytes; monostate for null.
using KeyValue = std::variant<std::monostate, int64_t, float, double, std::string>;

struct KeyField {
  std::string name;
  KeyFieldKind kind = KeyFieldKind::kText;
  size_t width = 0;  // the N of raw(N), hex(N) and zero_padded(N)
  bool descending = false;
  std::string_view unit;  // of a time; empty: the number is shown

  // Returns true if the field takes all bytes to the end of the key.
  bool is_open() const;
  // Returns "when int64 desc ms".
  std::string to_text() const;
};

// Parses "when int64 desc ms". kInvalidArgument.
Result<KeyField> parse_key_field(std::string_view text);

// Takes the field off the front of `rest`. kCorruption for bytes that put_key_field() does not write; then
// `rest` stays.
Result<KeyValue> take_key_field(const KeyField& field, std::string_view& rest);
// Appends the field. kInvalidArgument for a value that the field cannot have.
Status put_key_field(const KeyField& field, const KeyValue& value, KeyBuilder& key);

// Returns the value as text; bytes as they are, except that those of hex(N) are digits. Not for null.
std::string key_value_text(const KeyField& field, const KeyValue& value);
// Returns the value in JSON.
std::string key_value_json(const KeyField& field, const KeyValue& value);
// Parses what key_value_text() returns. kInvalidArgument.
Result<KeyValue> parse_key_value(const KeyField& field, std::string_view text);

}  // namespace cellar
