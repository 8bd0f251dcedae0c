// KeySchema: names and types for the fields of composite keys, as a text that people and programs share.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/keys.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// KeySchema: names and types of the fields of a key: "user text, when int64 desc ms, page text". It makes
// keys of texts, and texts of keys. Keys are those of KeyBuilder and of the functions of cellar/keys.h.
//
// A field is a name and a type. A name has letters, digits, '_' and '-', and begins with a letter or '_'.
// There are at most 100 fields, and 4,096 bytes of text. The types:
//
// - int8, int16, int32, int64, float32, float64, decimal, text, blob, last_blob: fields of KeyBuilder, which
//   may be null; with desc after it, descending
// - sized: KeyBuilder::sized
// - raw(N), hex(N): N bytes, 1 to 32,767; as text with \xHH escapes, or in hexadecimal digits
// - raw: all bytes to the end of the key; the last field
// - zero_padded(N): N digits, 1 to 19
// - plain_int16, plain_int32, plain_int64, plain_float32, plain_float64: HBase's Bytes
// - reversed_time: eight bytes by which later times sort first
// - packed_quadkey: a tile; its text is the quadkey, 0231
//
// After int32, int64, plain_int32, plain_int64, zero_padded and reversed_time may follow the unit of a time
// since 1970: d, h, min, s, ms or us. Its text is then a date and time such as 2026-11-20T18:04:11.203Z.
//
// A value: copies share the parsed form. Any thread may read it.
class KeySchema {
 public:
  // A table keeps the text of its schema under this key of TableOptions::metadata. The tools show keys by it.
  // create_table refuses a text that parse() refuses.
  static constexpr std::string_view kTableAttribute = "KEY_FIELDS";

  // Returns the schema of a text. kInvalidArgument names the field and what is wrong with it, with the
  // nearest type as the hint.
  static Result<KeySchema> parse(std::string_view text);

  // Returns the schema in its usual form, which parse() accepts.
  std::string to_text() const;
  // Returns the names of the fields, in their order.
  std::vector<std::string> names() const;

  // ---- Keys of fields
  //
  // The values are texts in the order of the fields, nullopt for null. Errors: kInvalidArgument names a field
  // that is missing or surplus, or whose text is no value of its type. Also kLimit: the key has more than
  // 32,767 bytes.

  // Returns the key with these values, one for each field.
  Result<std::string> key(const std::vector<std::optional<std::string>>& values) const;
  // Returns the range of the keys whose first fields have these values. Values for all fields: of that key
  // alone.
  Result<KeyRange> range(const std::vector<std::optional<std::string>>& values) const;
  // Returns the values of the first fields in a text such as "user=alice, when=2026-11-20". A value with a
  // comma is in single quotes. \xHH stands for a byte, and null without quotes for no value. Also
  // kInvalidArgument, with the nearest name as the hint, for an unknown field, and for one that does not
  // follow the field before it.
  Result<std::vector<std::optional<std::string>>> parse_values(std::string_view text) const;

  // ---- Fields of keys
  //
  // A key fits if key() makes it of some values. Otherwise kCorruption tells the field and the byte.

  // Returns the values of the fields. key() makes the same key of them.
  Result<std::vector<std::optional<std::string>>> values(std::string_view key) const;
  // Returns how many bytes the first `fields` fields of the key have; at most as many as the schema has. The
  // bytes after them may be any.
  Result<size_t> bytes_of_first(std::string_view key, size_t fields) const;
  // Returns "user=alice, when=2026-11-20T18:04:11.203Z", which parse_values() accepts. Bytes that do not fit
  // are escaped after a colon: "user=alice, :\x01". A key that ends early has fewer fields.
  std::string text(std::string_view key) const;
  // Returns a JSON object of the fields: {"user":"alice","when":17}. Whole numbers and finite floats are
  // numbers, a null is null, all else is text: bytes with \xHH escapes, times and decimals. Bytes that do not
  // fit are in a member ":".
  std::string json(std::string_view key) const;

 private:
  struct Fields;
  explicit KeySchema(std::shared_ptr<const Fields> fields) : fields_(std::move(fields)) {}

  std::shared_ptr<const Fields> fields_;
};

}  // namespace cellar
