// The types of fields: a table of them, and what each does with bytes and texts.
#include "keys/key_field.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/iso_time.h"
#include "cellar/cell.h"
#include "cellar/plugin.h"

namespace cellar {
namespace {

using Kind = KeyFieldKind;

struct KindFacts {
  std::string_view name;
  Kind kind;
  size_t width_max = 0;  // of the N in parentheses; 0: there is no N
  bool ordered = false;  // a field of OrderedBytes: desc and null are possible
  bool is_time = false;  // a unit of time may follow
  int64_t least = 0;     // of whole numbers
  int64_t most = 0;
};

constexpr size_t kPaddedDigitsMax = 19;

template <class Number>
constexpr KindFacts whole_number(std::string_view name, Kind kind, bool ordered) {
  return {.name = name,
          .kind = kind,
          .ordered = ordered,
          .is_time = sizeof(Number) >= 4,
          .least = std::numeric_limits<Number>::min(),
          .most = std::numeric_limits<Number>::max()};
}

constexpr std::array kKinds = {
    whole_number<int8_t>("int8", Kind::kInt8, true),
    whole_number<int16_t>("int16", Kind::kInt16, true),
    whole_number<int32_t>("int32", Kind::kInt32, true),
    whole_number<int64_t>("int64", Kind::kInt64, true),
    KindFacts{.name = "float32", .kind = Kind::kFloat32, .ordered = true},
    KindFacts{.name = "float64", .kind = Kind::kFloat64, .ordered = true},
    KindFacts{.name = "decimal", .kind = Kind::kDecimal, .ordered = true},
    KindFacts{.name = "text", .kind = Kind::kText, .ordered = true},
    KindFacts{.name = "blob", .kind = Kind::kBlob, .ordered = true},
    KindFacts{.name = "last_blob", .kind = Kind::kLastBlob, .ordered = true},
    KindFacts{.name = "sized", .kind = Kind::kSized},
    KindFacts{.name = "raw", .kind = Kind::kRaw, .width_max = kRowBytesMax},
    KindFacts{.name = "hex", .kind = Kind::kHex, .width_max = kRowBytesMax},
    KindFacts{.name = "zero_padded",
              .kind = Kind::kZeroPadded,
              .width_max = kPaddedDigitsMax,
              .is_time = true,
              .most = INT64_MAX},
    whole_number<int16_t>("plain_int16", Kind::kPlainInt16, false),
    whole_number<int32_t>("plain_int32", Kind::kPlainInt32, false),
    whole_number<int64_t>("plain_int64", Kind::kPlainInt64, false),
    KindFacts{.name = "plain_float32", .kind = Kind::kPlainFloat32},
    KindFacts{.name = "plain_float64", .kind = Kind::kPlainFloat64},
    KindFacts{.name = "reversed_time", .kind = Kind::kReversedTime, .is_time = true, .most = INT64_MAX},
    KindFacts{.name = "packed_quadkey", .kind = Kind::kPackedQuadkey},
};

const KindFacts& facts_of(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

static_assert([] {
  for (size_t i = 0; i < kKinds.size(); ++i)
    if (static_cast<size_t>(kKinds[i].kind) != i) return false;
  return true;
}());

struct TimeUnit {
  std::string_view name;
  int64_t micros;
};
constexpr std::array kUnits = {TimeUnit{"d", 86'400'000'000}, TimeUnit{"h", 3'600'000'000},
                               TimeUnit{"min", 60'000'000},   TimeUnit{"s", 1'000'000},
                               TimeUnit{"ms", 1000},          TimeUnit{"us", 1}};

const TimeUnit* find_unit(std::string_view name) {
  for (const TimeUnit& each : kUnits)
    if (each.name == name) return &each;
  return nullptr;
}

// Returns a type without its number, and the number: "raw" and 16 for "raw(16)".
struct TypeText {
  std::string_view name;
  std::optional<std::string_view> width;
};
TypeText split_type(std::string_view type) {
  const size_t open = type.find('(');
  if (open == type.npos || !type.ends_with(')')) return {type, std::nullopt};
  return {type.substr(0, open), type.substr(open + 1, type.size() - open - 2)};
}

std::vector<std::string_view> words_in(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\r";
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(kBlank); at != text.npos;) {
    const size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlank, end);
  }
  return words;
}

Status check_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool fits = is_letter(name.front());
  for (const char c : name) fits = fits && (is_letter(c) || (c >= '0' && c <= '9') || c == '-');
  if (fits) return {};
  return Status::invalid_argument(fmt::format("\"{}\" is no name of a field", escaped(name)))
      .hinting("a name has letters, digits, '_' and '-', and begins with a letter or '_'");
}

Result<const KindFacts*> find_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const KindFacts& each : kKinds) {
    if (each.name == name) return &each;
    known.emplace_back(each.name);
  }
  const std::string hint = nearest_hint(lower_ascii(name), known);
  return Status::invalid_argument(fmt::format("unknown type \"{}\"", escaped(name)))
      .hinting(hint.empty() ? fmt::format("{}", fmt::join(known, ", ")) : hint);
}

// Sets the width. Only raw may lack it.
Status set_width(const KindFacts& facts, std::optional<std::string_view> text, KeyField& field) {
  if (!text && (facts.width_max == 0 || facts.kind == Kind::kRaw)) return {};
  if (facts.width_max == 0)
    return Status::invalid_argument(fmt::format("{} has no number in parentheses", facts.name));
  size_t width = 0;
  const std::string_view digits = text.value_or("");
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  if (error == std::errc() && end == digits.data() + digits.size() && width >= 1 &&
      width <= facts.width_max) {
    field.width = width;
    return {};
  }
  return Status::invalid_argument(fmt::format("{} needs a number from 1 to {} in parentheses: {}(8)",
                                              facts.name, facts.width_max, facts.name));
}

// Sets what follows the type: asc, desc or a unit of time.
Status set_suffix(const KindFacts& facts, std::string_view word, KeyField& field) {
  if (word == "asc" || word == "desc") {
    if (!facts.ordered)
      return Status::invalid_argument(fmt::format("{} takes no {}", facts.name, word))
          .hinting("only the types of OrderedBytes have an order: int64, text, …");
    field.descending = word == "desc";
    return {};
  }
  const TimeUnit* const unit = find_unit(word);
  if (unit == nullptr) {
    const std::string hint = nearest_hint(lower_ascii(word), {"asc", "desc"});
    return Status::invalid_argument(fmt::format("unknown word \"{}\" after {}", escaped(word), facts.name))
        .hinting(hint.empty() ? "asc, desc, or the unit of a time: d, h, min, s, ms, us" : hint);
  }
  if (!facts.is_time)
    return Status::invalid_argument(fmt::format("{} is no time in {}", facts.name, word))
        .hinting("int32, int64, plain_int32, plain_int64, zero_padded and reversed_time may have a unit");
  field.unit = unit->name;
  return {};
}

}  // namespace

bool KeyField::is_open() const {
  return (kind == Kind::kRaw && width == 0) || (kind == Kind::kLastBlob && !descending);
}

std::string KeyField::to_text() const {
  std::string text = fmt::format("{} {}", name, facts_of(kind).name);
  if (width != 0) text += fmt::format("({})", width);
  if (descending) text += " desc";
  if (!unit.empty()) text.append(" ").append(unit);
  return text;
}

Result<KeyField> parse_key_field(std::string_view text) {
  const std::vector<std::string_view> words = words_in(text);
  if (words.empty()) return Status::invalid_argument("there is no name and no type");
  CELLAR_TRY(check_name(words[0]));
  KeyField field{.name = std::string(words[0]), .unit = {}};
  if (words.size() < 2)
    return Status::invalid_argument("the type is missing").hinting(fmt::format("write {} text", words[0]));
  const TypeText type = split_type(words[1]);
  CELLAR_TRY_ASSIGN(const KindFacts* const facts, find_kind(type.name));
  field.kind = facts->kind;
  CELLAR_TRY(set_width(*facts, type.width, field));
  for (size_t i = 2; i < words.size(); ++i) CELLAR_TRY(set_suffix(*facts, words[i], field));
  return field;
}

// ---- Bytes

namespace {

template <class Number>
Result<KeyValue> whole(const Result<Number>& number) {
  CELLAR_TRY(number);
  return KeyValue(int64_t{*number});
}
template <class Value>
Result<KeyValue> as_value(Result<Value> value) {
  CELLAR_TRY(value);
  return KeyValue(*std::move(value));
}
Result<KeyValue> as_bytes(const Result<std::string_view>& bytes) {
  CELLAR_TRY(bytes);
  return KeyValue(std::string(*bytes));
}
// For numbers of a fixed width: `number` is nothing if the bytes are not such a number.
template <class Number>
Result<KeyValue> fixed(const std::optional<Number>& number) {
  if (!number) return Status::corruption("the bytes have no such value");
  if constexpr (std::is_integral_v<Number>) {
    return KeyValue(int64_t{*number});
  } else {
    return KeyValue(*number);
  }
}

size_t fixed_width(const KeyField& field) {
  switch (field.kind) {
    case Kind::kPlainInt16:
      return 2;
    case Kind::kPlainInt32:
    case Kind::kPlainFloat32:
      return 4;
    case Kind::kPlainInt64:
    case Kind::kPlainFloat64:
    case Kind::kReversedTime:
    case Kind::kPackedQuadkey:
      return 8;
    default:
      return field.width;
  }
}

Result<KeyValue> take_ordered(const KeyField& field, KeyReader& reader) {
  constexpr unsigned char kDescendingBit = 0x80;  // the first byte of a field, inverted, has it
  const bool descends = (static_cast<unsigned char>(reader.rest().front()) & kDescendingBit) != 0;
  if (descends != field.descending)
    return Status::corruption(
        fmt::format("no {} field of OrderedBytes is there", field.descending ? "descending" : "ascending"));
  if (reader.take_null()) return KeyValue();
  switch (field.kind) {
    case Kind::kInt8:
      return whole(reader.int8());
    case Kind::kInt16:
      return whole(reader.int16());
    case Kind::kInt32:
      return whole(reader.int32());
    case Kind::kInt64:
      return whole(reader.int64());
    case Kind::kFloat32:
      return as_value(reader.float32());
    case Kind::kFloat64:
      return as_value(reader.float64());
    case Kind::kDecimal:
      return as_value(reader.decimal());
    case Kind::kBlob:
      return as_value(reader.blob());
    case Kind::kLastBlob:
      return as_value(reader.last_blob());
    default:
      return as_value(reader.text());
  }
}

Result<KeyValue> quadkey_of(std::string_view bytes) {
  CELLAR_TRY_ASSIGN(const Tile tile, tile_of_packed(bytes));
  return as_value(quadkey(tile));
}

Result<KeyValue> take_fixed(const KeyField& field, KeyReader& reader) {
  if (field.kind == Kind::kSized) return as_bytes(reader.sized());
  CELLAR_TRY_ASSIGN(const std::string_view bytes,
                    reader.raw(field.is_open() ? reader.rest().size() : fixed_width(field)));
  switch (field.kind) {
    case Kind::kZeroPadded:
      return whole(int64_of_padded(bytes));
    case Kind::kPlainInt16:
      return fixed(int16_of_plain(bytes));
    case Kind::kPlainInt32:
      return fixed(int32_of_plain(bytes));
    case Kind::kPlainInt64:
      return fixed(int64_of_plain(bytes));
    case Kind::kPlainFloat32:
      return fixed(float32_of_plain(bytes));
    case Kind::kPlainFloat64:
      return fixed(float64_of_plain(bytes));
    case Kind::kReversedTime:
      return fixed(time_of_reversed(bytes));
    case Kind::kPackedQuadkey:
      return quadkey_of(bytes);
    default:
      return as_bytes(bytes);
  }
}

// NaNs of other bits than Java's are not written: their text does not tell them apart.
template <class Float>
Float with_usual_nan(Float value) {
  return std::isnan(value) ? std::numeric_limits<Float>::quiet_NaN() : value;
}

void put_ordered(const KeyField& field, const KeyValue& value, KeyBuilder& key) {
  const KeyOrder order = field.descending ? KeyOrder::kDescending : KeyOrder::kAscending;
  if (std::holds_alternative<std::monostate>(value)) {
    key.null(order);
    return;
  }
  const auto number = [&] { return std::get<int64_t>(value); };
  const auto bytes = [&]() -> const std::string& { return std::get<std::string>(value); };
  switch (field.kind) {
    case Kind::kInt8:
      key.int8(static_cast<int8_t>(number()), order);
      break;
    case Kind::kInt16:
      key.int16(static_cast<int16_t>(number()), order);
      break;
    case Kind::kInt32:
      key.int32(static_cast<int32_t>(number()), order);
      break;
    case Kind::kInt64:
      key.int64(number(), order);
      break;
    case Kind::kFloat32:
      key.float32(std::get<float>(value), order);
      break;
    case Kind::kFloat64:
      key.float64(std::get<double>(value), order);
      break;
    case Kind::kDecimal:
      key.decimal(bytes(), order);
      break;
    case Kind::kBlob:
      key.blob(bytes(), order);
      break;
    case Kind::kLastBlob:
      key.last_blob(bytes(), order);
      break;
    default:
      key.text(bytes(), order);
  }
}

// Returns the bytes of a raw, plain, padded or hexadecimal field.
Result<std::string> fixed_bytes(const KeyField& field, const KeyValue& value) {
  switch (field.kind) {
    case Kind::kZeroPadded:
      return zero_padded(std::get<int64_t>(value), field.width);
    case Kind::kPlainInt16:
      return plain_int16(static_cast<int16_t>(std::get<int64_t>(value)));
    case Kind::kPlainInt32:
      return plain_int32(static_cast<int32_t>(std::get<int64_t>(value)));
    case Kind::kPlainInt64:
      return plain_int64(std::get<int64_t>(value));
    case Kind::kPlainFloat32:
      return plain_float32(with_usual_nan(std::get<float>(value)));
    case Kind::kPlainFloat64:
      return plain_float64(with_usual_nan(std::get<double>(value)));
    case Kind::kReversedTime:
      return reversed_time(std::get<int64_t>(value));
    case Kind::kPackedQuadkey: {
      CELLAR_TRY_ASSIGN(const Tile tile, tile_of_quadkey(std::get<std::string>(value)));
      return packed_quadkey(tile);
    }
    default:
      break;
  }
  const std::string& bytes = std::get<std::string>(value);
  if (field.is_open() || bytes.size() == field.width) return bytes;
  return Status::invalid_argument(fmt::format("it has {} bytes, and not {}", bytes.size(), field.width));
}

}  // namespace

Result<KeyValue> take_key_field(const KeyField& field, std::string_view& rest) {
  const bool ordered = facts_of(field.kind).ordered;
  if (rest.empty() && (ordered || !field.is_open())) return Status::corruption("the key ends before it");
  KeyReader reader(rest);
  CELLAR_TRY_ASSIGN(KeyValue value, ordered ? take_ordered(field, reader) : take_fixed(field, reader));
  const std::string_view taken = rest.substr(0, rest.size() - reader.rest().size());
  KeyBuilder again;
  const Status put = put_key_field(field, value, again);
  const Result<std::string> bytes = again.key();
  if (!put.ok() || !bytes.ok() || *bytes != taken)
    return Status::corruption(fmt::format("the bytes are no {} as it is written", facts_of(field.kind).name));
  rest = reader.rest();
  return value;
}

Status put_key_field(const KeyField& field, const KeyValue& value, KeyBuilder& key) {
  if (facts_of(field.kind).ordered) {
    put_ordered(field, value, key);
  } else if (std::holds_alternative<std::monostate>(value)) {
    return Status::invalid_argument(fmt::format("{} cannot be null", facts_of(field.kind).name));
  } else if (field.kind == Kind::kSized) {
    key.sized(std::get<std::string>(value));
  } else {
    CELLAR_TRY_ASSIGN(const std::string bytes, fixed_bytes(field, value));
    key.raw(bytes);
  }
  return {};
}

// ---- Texts

namespace {

// Returns the moment `number` units after 1970, or nothing outside the years 0 to 9999.
std::optional<std::string> time_of(int64_t number, const TimeUnit& unit) {
  constexpr int64_t kSecond = 1'000'000;
  if (unit.micros >= kSecond) {
    constexpr int64_t kFar = 1'000'000'000'000;  // seconds; also beyond all such years
    if (number > kFar || number < -kFar) return std::nullopt;
    const std::optional<std::string> text = iso_seconds(number * (unit.micros / kSecond));
    return text ? std::optional(*text + "Z") : std::nullopt;
  }
  const int64_t parts = kSecond / unit.micros;
  const int64_t within = number % parts;
  const std::optional<std::string> text = iso_seconds(number / parts - (within < 0 ? 1 : 0));
  if (!text) return std::nullopt;
  return fmt::format("{}.{:0{}}Z", *text, within < 0 ? within + parts : within, parts == 1000 ? 3 : 6);
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Result<int64_t> parse_moment(const KeyField& field, std::string_view text) {
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> micros, parse_iso_time(text));
  const TimeUnit& unit = *find_unit(field.unit);
  if (!micros)
    return Status::invalid_argument(fmt::format("\"{}\" is no time", escaped(text)))
        .hinting(fmt::format("write 2026-11-20, 2026-11-20T18:04:11Z, or a number of {}", unit.name));
  if (*micros % unit.micros == 0) return *micros / unit.micros;
  return Status::invalid_argument(
      fmt::format("\"{}\" is no whole number of {} since 1970", escaped(text), unit.name));
}

Result<KeyValue> parse_whole(const KeyField& field, const KindFacts& facts, std::string_view text) {
  int64_t number = 0;
  if (!parse_number(text, number)) {
    if (field.unit.empty())
      return Status::invalid_argument(fmt::format("\"{}\" is no {}", escaped(text), facts.name))
          .hinting(fmt::format("a whole number from {} to {}", facts.least, facts.most));
    CELLAR_TRY_ASSIGN(number, parse_moment(field, text));
  }
  if (number >= facts.least && number <= facts.most) return KeyValue(number);
  return Status::invalid_argument(
      fmt::format("{} is beyond {}: {} to {}", number, facts.name, facts.least, facts.most));
}

template <class Float>
Result<KeyValue> parse_float(const KindFacts& facts, std::string_view text) {
  Float number = 0;
  if (parse_number(text, number)) return KeyValue(with_usual_nan(number));
  return Status::invalid_argument(fmt::format("\"{}\" is no {}", escaped(text), facts.name))
      .hinting("such as -12.5, 1e300, inf or nan");
}

}  // namespace

std::string key_value_text(const KeyField& field, const KeyValue& value) {
  if (const int64_t* const number = std::get_if<int64_t>(&value)) {
    const TimeUnit* const unit = find_unit(field.unit);
    const std::optional<std::string> time = unit != nullptr ? time_of(*number, *unit) : std::nullopt;
    return time ? *time : fmt::format("{}", *number);
  }
  if (const float* const number = std::get_if<float>(&value)) return fmt::format("{}", *number);
  if (const double* const number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  const std::string* const bytes = std::get_if<std::string>(&value);
  if (bytes == nullptr) return "null";
  return field.kind == Kind::kHex ? hex(*bytes) : *bytes;
}

std::string key_value_json(const KeyField& field, const KeyValue& value) {
  const std::string text = key_value_text(field, value);
  if (std::holds_alternative<std::monostate>(value)) return text;
  if (std::holds_alternative<int64_t>(value) && text.find(':') == text.npos) return text;
  const float* const single = std::get_if<float>(&value);
  const double* const number = std::get_if<double>(&value);
  if ((single != nullptr && std::isfinite(*single)) || (number != nullptr && std::isfinite(*number)))
    return text;
  return json_string(escaped(text));
}

Result<KeyValue> parse_key_value(const KeyField& field, std::string_view text) {
  const KindFacts& facts = facts_of(field.kind);
  if (facts.least != facts.most) return parse_whole(field, facts, text);
  switch (field.kind) {
    case Kind::kFloat32:
    case Kind::kPlainFloat32:
      return parse_float<float>(facts, text);
    case Kind::kFloat64:
    case Kind::kPlainFloat64:
      return parse_float<double>(facts, text);
    case Kind::kHex:
      return as_value(bytes_of_hex(text));
    default:
      return KeyValue(std::string(text));
  }
}

}  // namespace cellar
