// KeySchema: a list of fields, and the texts of all of them together.
#include "cellar/key_schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text_width.h"
#include "cellar/plugin.h"
#include "keys/key_field.h"

namespace cellar {

struct KeySchema::Fields {
  std::vector<KeyField> list;
};

namespace {

using FieldTexts = std::vector<std::optional<std::string>>;

constexpr size_t kFieldsMax = 100;
constexpr size_t kTextBytesMax = 4096;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "the schema of keys "user txt": field 1: unknown type "txt"".
Status in_schema(std::string_view text, size_t field, const Status& status) {
  return status.with_context(fmt::format("the schema of keys \"{}\": field {}", escaped(text), field));
}

Status in_field(const KeyField& field, const Status& status) {
  return status.with_context(fmt::format("field {} of the key", field.name));
}

// Returns whether one of the fields has this name.
bool has_field(const std::vector<KeyField>& fields, std::string_view name) {
  return std::ranges::any_of(fields, [&](const KeyField& each) { return each.name == name; });
}

// Appends the value as KeySchema::parse_values reads it: in quotes where it is not unambiguous without.
void append_quotable(std::string& to, const std::string& text) {
  const std::string shown = readable(text);
  const bool bare = !shown.empty() && shown != "null" && shown.find(',') == shown.npos &&
                    shown.front() != '\'' && trimmed(shown).size() == shown.size();
  if (bare) {
    to += shown;
    return;
  }
  to += '\'';
  for (const char c : shown) c == '\'' ? to += "\\x27" : to += c;
  to += '\'';
}

// Takes a value off the front, up to the comma or the end.
Result<std::optional<std::string>> take_value(std::string_view& rest) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const bool quoted = rest.starts_with('\'');
  if (quoted) rest.remove_prefix(1);
  const size_t end = rest.find(quoted ? '\'' : ',');
  if (quoted && end == rest.npos) return Status::invalid_argument("a quote is not closed");
  std::string_view text = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), text.size() + (quoted ? 1 : 0)));
  if (quoted) {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (!rest.empty() && rest.front() != ',')
      return Status::invalid_argument("a comma is missing after a value in quotes");
  } else {
    text = trimmed(text);
    if (text == "null") return std::optional<std::string>();
  }
  const Result<std::string> bytes = unescaped(text);
  if (!bytes.ok()) return bytes.status().hinting("a byte is written \\xHH, a backslash itself \\x5C");
  return std::optional(*bytes);
}

}  // namespace

Result<KeySchema> KeySchema::parse(std::string_view text) {
  if (text.size() > kTextBytesMax)
    return Status::invalid_argument(
        fmt::format("a schema of keys has {} bytes: at most {}", text.size(), kTextBytesMax));
  auto fields = std::make_shared<Fields>();
  std::vector<KeyField>& list = fields->list;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const size_t number = list.size() + 1;
    const auto refuse = [&](std::string message) {
      return in_schema(text, number, Status::invalid_argument(std::move(message)));
    };
    Result<KeyField> field = parse_key_field(text.substr(at, end - at));
    if (!field.ok()) return in_schema(text, number, field.status());
    if (has_field(list, field->name)) return refuse(fmt::format("the name {} is used twice", field->name));
    if (number > kFieldsMax) return refuse(fmt::format("a key has at most {} fields", kFieldsMax));
    if (!list.empty() && list.back().is_open())
      return refuse(
          fmt::format("it follows {}, which takes all bytes to the end of the key", list.back().to_text()));
    list.push_back(*std::move(field));
    at = end + 1;
  }
  return KeySchema(std::move(fields));
}

std::string KeySchema::to_text() const {
  std::string text;
  for (const KeyField& field : fields_->list) text += (text.empty() ? "" : ", ") + field.to_text();
  return text;
}

std::vector<std::string> KeySchema::names() const {
  std::vector<std::string> names;
  for (const KeyField& field : fields_->list) names.push_back(field.name);
  return names;
}

// ---- Keys of fields

Result<std::string> KeySchema::key(const FieldTexts& values) const {
  const std::vector<KeyField>& fields = fields_->list;
  if (values.size() < fields.size())
    return Status::invalid_argument(fmt::format("field {} of the key is missing", fields[values.size()].name))
        .hinting("the fields are: " + to_text());
  CELLAR_TRY_ASSIGN(KeyRange range, this->range(values));
  return std::move(range.start);
}

Result<KeyRange> KeySchema::range(const FieldTexts& values) const {
  const std::vector<KeyField>& fields = fields_->list;
  if (values.size() > fields.size())
    return Status::invalid_argument(
               fmt::format("{} values for a key of {} fields", values.size(), fields.size()))
        .hinting("the fields are: " + to_text());
  KeyBuilder builder;
  for (size_t i = 0; i < values.size(); ++i) {
    KeyValue value;
    if (values[i]) {
      Result<KeyValue> parsed = parse_key_value(fields[i], *values[i]);
      if (!parsed.ok()) return in_field(fields[i], parsed.status());
      value = *std::move(parsed);
    }
    Status put = put_key_field(fields[i], value, builder);
    if (put.ok()) put = builder.key().status();
    if (!put.ok()) return in_field(fields[i], put);
  }
  CELLAR_TRY_ASSIGN(std::string key, builder.key());
  if (values.size() < fields.size()) return keys_with_prefix(key);
  std::string next = key + '\0';
  return KeyRange{std::move(key), std::move(next)};
}

Result<FieldTexts> KeySchema::parse_values(std::string_view text) const {
  const std::vector<KeyField>& fields = fields_->list;
  FieldTexts values;
  for (std::string_view rest = text; !trimmed(rest).empty();) {
    if (!values.empty()) rest.remove_prefix(1);  // the comma
    const size_t equals = rest.find('=');
    const std::string_view name = trimmed(rest.substr(0, equals));
    if (equals == rest.npos)
      return Status::invalid_argument(fmt::format("\"{}\" is not FIELD=VALUE", escaped(name)))
          .hinting("the fields are: " + to_text());
    const auto named = std::ranges::find(fields, name, &KeyField::name);
    if (named == fields.end()) {
      const std::string hint = nearest_hint(name, names());
      return Status::invalid_argument(fmt::format("the key has no field \"{}\"", escaped(name)))
          .hinting(hint.empty() ? "the fields are: " + to_text() : hint);
    }
    if (values.size() == fields.size() || fields[values.size()].name != name)
      return Status::invalid_argument(
                 values.size() == fields.size()
                     ? fmt::format("field {} comes twice", name)
                     : fmt::format("field {} comes where {} is to be", name, fields[values.size()].name))
          .hinting("give the first fields of a key in their order: " + to_text());
    rest.remove_prefix(equals + 1);
    Result<std::optional<std::string>> value = take_value(rest);
    if (!value.ok()) return in_field(*named, value.status());
    values.push_back(*std::move(value));
  }
  return values;
}

// ---- Fields of keys

namespace {

// Takes the field off the front of `rest`. An error names the field and the byte of the key.
Result<KeyValue> take_field(const KeyField& field, std::string_view key, std::string_view& rest) {
  Result<KeyValue> value = take_key_field(field, rest);
  if (value.ok()) return value;
  return in_field(field, value.status().with_context(fmt::format("at byte {}", key.size() - rest.size())));
}

}  // namespace

Result<FieldTexts> KeySchema::values(std::string_view key) const {
  FieldTexts values;
  std::string_view rest = key;
  for (const KeyField& field : fields_->list) {
    CELLAR_TRY_ASSIGN(const KeyValue value, take_field(field, key, rest));
    const bool null = std::holds_alternative<std::monostate>(value);
    values.push_back(null ? std::nullopt : std::optional(key_value_text(field, value)));
  }
  if (rest.empty()) return values;
  return Status::corruption(fmt::format("the key has {} bytes after its last field {}, from byte {} on",
                                        rest.size(), fields_->list.back().name, key.size() - rest.size()));
}

Result<size_t> KeySchema::bytes_of_first(std::string_view key, size_t fields) const {
  std::string_view rest = key;
  for (size_t i = 0; i < std::min(fields, fields_->list.size()); ++i)
    CELLAR_TRY(take_field(fields_->list[i], key, rest));
  return key.size() - rest.size();
}

std::string KeySchema::text(std::string_view key) const {
  std::string text;
  std::string_view rest = key;
  for (const KeyField& field : fields_->list) {
    const Result<KeyValue> value = take_key_field(field, rest);
    if (!value.ok()) break;
    text += fmt::format("{}{}=", text.empty() ? "" : ", ", field.name);
    if (std::holds_alternative<std::monostate>(*value)) {
      text += "null";
    } else {
      append_quotable(text, key_value_text(field, *value));
    }
  }
  if (!rest.empty()) text += (text.empty() ? ":" : ", :") + escaped(rest);
  return text;
}

std::string KeySchema::json(std::string_view key) const {
  std::string text = "{";
  std::string_view rest = key;
  for (const KeyField& field : fields_->list) {
    const Result<KeyValue> value = take_key_field(field, rest);
    if (!value.ok()) break;
    text +=
        fmt::format("{}\"{}\":{}", text.size() == 1 ? "" : ",", field.name, key_value_json(field, *value));
  }
  if (!rest.empty())
    text += fmt::format("{}\":\":{}", text.size() == 1 ? "" : ",", json_string(escaped(rest)));
  return text + "}";
}

}  // namespace cellar
