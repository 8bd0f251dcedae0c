// Row keys: HBase's OrderedBytes and Bytes, field by field, and the prefixes of keys.
#include "cellar/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/hash.h"
#include "cellar/cell.h"
#include "keys/numeric_key.h"

namespace cellar {
namespace {

// The first byte of each kind of field, in the order of the kinds. Descending fields have all their bits
// inverted.
constexpr char kNull = 0x05;
constexpr char kInt8 = 0x29;
constexpr char kInt16 = 0x2a;
constexpr char kInt32 = 0x2b;
constexpr char kInt64 = 0x2c;
constexpr char kFloat32 = 0x30;
constexpr char kFloat64 = 0x31;
constexpr char kText = 0x34;
constexpr char kBlob = 0x37;
constexpr char kLastBlob = 0x38;
constexpr uint8_t kTileZoomMax = 29;

char inverted(char c) { return static_cast<char>(~c); }

template <class Float>
using BitsOf = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;

// Returns bits that sort like the numbers: all bits of a negative number are inverted, otherwise the sign
// bit is.
template <class Float>
BitsOf<Float> sortable(Float value) {
  using Bits = BitsOf<Float>;
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  // Java has only this NaN.
  const Bits bits = std::isnan(value) ? std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN()) & ~kSign
                                      : std::bit_cast<Bits>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
template <class Float>
Float number_of(BitsOf<Float> sorted) {
  using Bits = BitsOf<Float>;
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  return std::bit_cast<Float>((sorted & kSign) != 0 ? sorted & ~kSign : static_cast<Bits>(~sorted));
}

void append_be(std::string& to, uint64_t value, size_t width) {
  while (width-- > 0) to.push_back(static_cast<char>(value >> (8 * width)));
}

uint64_t load_be(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

template <class Number>
std::optional<Number> plain(std::string_view bytes) {
  using Bits = std::conditional_t<sizeof(Number) == 2, uint16_t, BitsOf<Number>>;
  if (bytes.size() != sizeof(Number)) return std::nullopt;
  return std::bit_cast<Number>(static_cast<Bits>(load_be(bytes)));
}
template <class Number>
std::string plain_bytes(Number value) {
  using Bits = std::conditional_t<sizeof(Number) == 2, uint16_t, BitsOf<Number>>;
  std::string bytes;
  append_be(bytes, std::bit_cast<Bits>(value), sizeof value);
  return bytes;
}

Status cut_off(const char* kind) {
  return Status::corruption(fmt::format("the key ends inside a field of {}", kind));
}

}  // namespace

// ---- KeyBuilder ----

// Begins a field. Fails if an earlier field failed or if no field may follow.
Status KeyBuilder::open_field() {
  if (!failure_.ok()) return failure_;
  ++fields_;
  if (closed_)
    failure_ = Status::invalid_argument(
        fmt::format("field {} follows a last_blob, which reaches to the end", fields_));
  return failure_;
}

// Ends the field whose ascending bytes begin at `from`; inverts them for a descending field.
KeyBuilder& KeyBuilder::add(Order order, size_t from) {
  if (order == Order::kDescending)
    std::transform(bytes_.begin() + static_cast<std::ptrdiff_t>(from), bytes_.end(),
                   bytes_.begin() + static_cast<std::ptrdiff_t>(from), inverted);
  return *this;
}

KeyBuilder& KeyBuilder::add_number(char mark, uint64_t bits, size_t width, Order order) {
  if (!open_field().ok()) return *this;
  const size_t from = bytes_.size();
  bytes_.push_back(mark);
  append_be(bytes_, bits, width);
  return add(order, from);
}

KeyBuilder& KeyBuilder::null(Order order) { return add_number(kNull, 0, 0, order); }
KeyBuilder& KeyBuilder::int8(int8_t value, Order order) {
  return add_number(kInt8, static_cast<uint8_t>(value) ^ 0x80u, 1, order);
}
KeyBuilder& KeyBuilder::int16(int16_t value, Order order) {
  return add_number(kInt16, static_cast<uint16_t>(value) ^ 0x8000u, 2, order);
}
KeyBuilder& KeyBuilder::int32(int32_t value, Order order) {
  return add_number(kInt32, static_cast<uint32_t>(value) ^ 0x80000000u, 4, order);
}
KeyBuilder& KeyBuilder::int64(int64_t value, Order order) {
  return add_number(kInt64, static_cast<uint64_t>(value) ^ (uint64_t{1} << 63), 8, order);
}
KeyBuilder& KeyBuilder::float32(float value, Order order) {
  return add_number(kFloat32, sortable(value), 4, order);
}
KeyBuilder& KeyBuilder::float64(double value, Order order) {
  return add_number(kFloat64, sortable(value), 8, order);
}

KeyBuilder& KeyBuilder::decimal(std::string_view text, Order order) {
  if (!open_field().ok()) return *this;
  const size_t from = bytes_.size();
  Result<Numeric> number = parse_numeric(text);
  failure_ = number.ok() ? append_numeric(*number, bytes_) : number.status();
  failure_ = failure_.with_context(fmt::format("field {}", fields_));
  return add(order, from);
}
KeyBuilder& KeyBuilder::decimal_int64(int64_t value, Order order) {
  return decimal(fmt::format("{}", value), order);
}
KeyBuilder& KeyBuilder::decimal_float64(double value, Order order) {
  return decimal(numeric_text(numeric_of(value)), order);
}

KeyBuilder& KeyBuilder::text(std::string_view value, Order order) {
  if (!open_field().ok()) return *this;
  if (const size_t zero = value.find('\0'); zero != value.npos) {
    failure_ = Status::invalid_argument(fmt::format("field {}: a text with a zero byte at {}", fields_, zero))
                   .hinting("a blob may hold any byte");
    return *this;
  }
  const size_t from = bytes_.size();
  bytes_.push_back(kText);
  bytes_.append(value).push_back('\0');
  return add(order, from);
}

// Encodes seven bits per byte. Each byte except the last has its highest bit set. Left-over bits are the
// highest bits of the last byte after its highest bit.
KeyBuilder& KeyBuilder::blob(std::string_view value, Order order) {
  if (!open_field().ok()) return *this;
  const size_t from = bytes_.size();
  bytes_.push_back(kBlob);
  if (value.empty()) bytes_.push_back('\0');
  uint32_t kept = 0;  // bits of the previous bytes not yet written
  uint32_t bits = 0;
  for (const char c : value) {
    kept = kept << 8 | static_cast<uint8_t>(c);
    bits += 8;
    while (bits >= 7) {
      bits -= 7;
      bytes_.push_back(static_cast<char>(0x80u | (kept >> bits & 0x7fu)));
    }
  }
  if (!value.empty()) {
    // The last byte has its highest bit clear. It holds the left-over bits, or is a zero.
    bytes_.push_back(static_cast<char>(bits == 0 ? 0 : kept << (7 - bits) & 0x7fu));
    if (bits == 0 && value.size() % 7 == 0) {
      bytes_.pop_back();
      bytes_.back() = static_cast<char>(bytes_.back() & 0x7f);
    }
  }
  return add(order, from);
}

KeyBuilder& KeyBuilder::last_blob(std::string_view value, Order order) {
  if (!open_field().ok()) return *this;
  const bool descending = order == Order::kDescending;
  if (descending && value.find('\0') != value.npos) {
    failure_ =
        Status::invalid_argument(fmt::format("field {}: a descending last_blob with a zero byte", fields_));
    return *this;
  }
  const size_t from = bytes_.size();
  bytes_.push_back(kLastBlob);
  bytes_.append(value);
  if (descending) bytes_.push_back('\0');
  closed_ = !descending;
  return add(order, from);
}

KeyBuilder& KeyBuilder::sized(std::string_view value) {
  if (!open_field().ok()) return *this;
  if (value.size() > kRowBytesMax) {
    failure_ = Status::limit(
        fmt::format("field {} has {} bytes: a row may have {}", fields_, value.size(), kRowBytesMax));
    return *this;
  }
  append_be(bytes_, value.size(), 2);
  bytes_.append(value);
  return *this;
}

KeyBuilder& KeyBuilder::raw(std::string_view value) {
  if (open_field().ok()) bytes_.append(value);
  return *this;
}

Result<std::string> KeyBuilder::key() const {
  CELLAR_TRY(failure_);
  if (bytes_.size() > kRowBytesMax)
    return Status::limit(fmt::format("a key of {} bytes: a row may have {}", bytes_.size(), kRowBytesMax));
  return bytes_;
}

// ---- KeyReader ----

bool KeyReader::take_null() {
  if (rest_.empty() || (rest_[0] != kNull && rest_[0] != inverted(kNull))) return false;
  rest_.remove_prefix(1);
  return true;
}

Result<uint64_t> KeyReader::number(char mark, size_t width, const char* kind) {
  const bool descending = !rest_.empty() && rest_[0] == inverted(mark);
  if (rest_.empty() || (rest_[0] != mark && !descending))
    return Status::corruption(fmt::format("the next field is not a field of {}", kind));
  if (rest_.size() < 1 + width) return cut_off(kind);
  const uint64_t bits = load_be(rest_.substr(1, width));
  rest_.remove_prefix(1 + width);
  const uint64_t mask = width == 8 ? UINT64_MAX : (uint64_t{1} << 8 * width) - 1;
  return descending ? ~bits & mask : bits;
}

Result<int8_t> KeyReader::int8() {
  CELLAR_TRY_ASSIGN(const uint64_t bits, number(kInt8, 1, "8 bits"));
  return static_cast<int8_t>(bits ^ 0x80u);
}
Result<int16_t> KeyReader::int16() {
  CELLAR_TRY_ASSIGN(const uint64_t bits, number(kInt16, 2, "16 bits"));
  return static_cast<int16_t>(bits ^ 0x8000u);
}
Result<int32_t> KeyReader::int32() {
  CELLAR_TRY_ASSIGN(const uint64_t bits, number(kInt32, 4, "32 bits"));
  return static_cast<int32_t>(bits ^ 0x80000000u);
}
Result<int64_t> KeyReader::int64() {
  CELLAR_TRY_ASSIGN(const uint64_t bits, number(kInt64, 8, "64 bits"));
  return static_cast<int64_t>(bits ^ (uint64_t{1} << 63));
}
Result<float> KeyReader::float32() {
  CELLAR_TRY_ASSIGN(const uint64_t bits, number(kFloat32, 4, "a float"));
  return number_of<float>(static_cast<uint32_t>(bits));
}
Result<double> KeyReader::float64() {
  CELLAR_TRY_ASSIGN(const uint64_t bits, number(kFloat64, 8, "a double"));
  return number_of<double>(bits);
}

Result<std::string> KeyReader::decimal() {
  CELLAR_TRY_ASSIGN(const Numeric number, take_numeric(rest_));
  return numeric_text(number);
}
Result<int64_t> KeyReader::decimal_int64() {
  std::string_view rest = rest_;
  CELLAR_TRY_ASSIGN(const Numeric number, take_numeric(rest));
  CELLAR_TRY_ASSIGN(const int64_t value, int64_of(number));
  rest_ = rest;
  return value;
}
Result<double> KeyReader::decimal_float64() {
  std::string_view rest = rest_;
  CELLAR_TRY_ASSIGN(const Numeric number, take_numeric(rest));
  CELLAR_TRY_ASSIGN(const double value, double_of(number));
  rest_ = rest;
  return value;
}

Result<std::string> KeyReader::until_zero(char mark, const char* kind) {
  const bool descending = !rest_.empty() && rest_[0] == inverted(mark);
  if (rest_.empty() || (rest_[0] != mark && !descending))
    return Status::corruption(fmt::format("the next field is not a field of {}", kind));
  const size_t end = rest_.find(descending ? '\xff' : '\0', 1);
  if (end == rest_.npos) return cut_off(kind);
  std::string value(rest_.substr(1, end - 1));
  if (descending) std::ranges::transform(value, value.begin(), inverted);
  rest_.remove_prefix(end + 1);
  return value;
}

Result<std::string> KeyReader::text() { return until_zero(kText, "text"); }

Result<std::string> KeyReader::blob() {
  const bool descending = !rest_.empty() && rest_[0] == inverted(kBlob);
  if (rest_.empty() || (rest_[0] != kBlob && !descending))
    return Status::corruption("the next field is not a field of a blob");
  std::string value;
  uint32_t kept = 0;
  uint32_t bits = 0;
  for (size_t at = 1; at < rest_.size(); ++at) {
    const auto byte = static_cast<uint8_t>(descending ? inverted(rest_[at]) : rest_[at]);
    kept = kept << 7 | (byte & 0x7fu);
    bits += 7;
    if (bits >= 8) {
      bits -= 8;
      value.push_back(static_cast<char>(kept >> bits));
    }
    if ((byte & 0x80u) != 0) continue;
    rest_.remove_prefix(at + 1);
    return value;
  }
  return cut_off("a blob");
}

Result<std::string> KeyReader::last_blob() {
  if (!rest_.empty() && rest_[0] == inverted(kLastBlob)) return until_zero(kLastBlob, "a last blob");
  if (rest_.empty() || rest_[0] != kLastBlob)
    return Status::corruption("the next field is not a field of a last blob");
  std::string value(rest_.substr(1));
  rest_ = {};
  return value;
}

Result<std::string_view> KeyReader::sized() {
  if (rest_.size() < 2) return cut_off("counted bytes");
  const size_t bytes = load_be(rest_.substr(0, 2));
  if (rest_.size() - 2 < bytes) return cut_off("counted bytes");
  const std::string_view value = rest_.substr(2, bytes);
  rest_.remove_prefix(2 + bytes);
  return value;
}

Result<std::string_view> KeyReader::raw(size_t bytes) {
  if (rest_.size() < bytes) return cut_off("raw bytes");
  const std::string_view value = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return value;
}

Result<std::string> rounded_decimal(std::string_view text) {
  CELLAR_TRY_ASSIGN(Numeric value, parse_numeric(text));
  value.number = rounded(std::move(value.number));
  CELLAR_TRY(check_numeric(value));
  return numeric_text(value);
}

namespace {

// Takes the next field, of any kind of OrderedBytes. Returns its text, or nothing if it is no field.
std::optional<std::string> take_any(KeyReader& reader) {
  if (reader.take_null()) return "null";
  if (const auto value = reader.int8(); value.ok()) return fmt::format("{}", *value);
  if (const auto value = reader.int16(); value.ok()) return fmt::format("{}", *value);
  if (const auto value = reader.int32(); value.ok()) return fmt::format("{}", *value);
  if (const auto value = reader.int64(); value.ok()) return fmt::format("{}", *value);
  if (const auto value = reader.float32(); value.ok()) return fmt::format("{}", *value);
  if (const auto value = reader.float64(); value.ok()) return fmt::format("{}", *value);
  if (const auto value = reader.decimal(); value.ok()) return *value;
  for (const auto take : {&KeyReader::text, &KeyReader::blob, &KeyReader::last_blob}) {
    if (const auto value = (reader.*take)(); value.ok()) return "'" + escaped(*value) + "'";
  }
  return std::nullopt;
}

}  // namespace

std::string key_fields_text(std::string_view key) {
  KeyReader reader(key);
  std::string text;
  while (!reader.at_end()) {
    const std::optional<std::string> field = take_any(reader);
    text += (text.empty() ? "" : ", ") + (field ? *field : ":" + escaped(reader.rest()));
    if (!field) break;
  }
  return text;
}

Result<size_t> key_fields_bytes(std::string_view key, size_t fields) {
  KeyReader reader(key);
  for (size_t i = 0; i < fields; ++i) {
    if (reader.at_end())
      return Status::corruption(fmt::format("the key has {} fields, and not {}", i, fields));
    if (!take_any(reader))
      return Status::corruption(
          fmt::format("no field of OrderedBytes begins at byte {}", key.size() - reader.rest().size()));
  }
  return key.size() - reader.rest().size();
}

// ---- Ranges ----

KeyRange keys_with_prefix(std::string_view prefix) { return {std::string(prefix), prefix_successor(prefix)}; }

KeyRange keys_between(std::string_view prefix, std::string_view from, std::string_view until) {
  return with_prefix(prefix, {std::string(from), std::string(until)});
}

// ---- HBase's Bytes ----

std::string plain_int16(int16_t value) { return plain_bytes(value); }
std::string plain_int32(int32_t value) { return plain_bytes(value); }
std::string plain_int64(int64_t value) { return plain_bytes(value); }
std::string plain_float32(float value) { return plain_bytes(value); }
std::string plain_float64(double value) { return plain_bytes(value); }
std::optional<int16_t> int16_of_plain(std::string_view bytes) { return plain<int16_t>(bytes); }
std::optional<int32_t> int32_of_plain(std::string_view bytes) { return plain<int32_t>(bytes); }
std::optional<int64_t> int64_of_plain(std::string_view bytes) { return plain<int64_t>(bytes); }
std::optional<float> float32_of_plain(std::string_view bytes) { return plain<float>(bytes); }
std::optional<double> float64_of_plain(std::string_view bytes) { return plain<double>(bytes); }

std::string reversed_time(int64_t time) { return plain_int64(INT64_MAX - std::max<int64_t>(time, 0)); }
std::optional<int64_t> time_of_reversed(std::string_view bytes) {
  const std::optional<int64_t> reversed = int64_of_plain(bytes);
  if (!reversed || *reversed < 0) return std::nullopt;
  return INT64_MAX - *reversed;
}

// ---- Prefixes ----

std::string hash_prefix(std::string_view key, size_t bytes) {
  return plain_int32(static_cast<int32_t>(murmur3_hash(key, 0))).substr(0, std::clamp<size_t>(bytes, 1, 4));
}

uint8_t salt_of(std::string_view key, uint32_t salts) {
  return static_cast<uint8_t>(murmur3_hash(key, 0) % std::clamp<uint32_t>(salts, 1, 256));
}
std::string_view unsalted(std::string_view row) { return row.substr(std::min<size_t>(row.size(), 1)); }

std::string salted(std::string_view key, uint32_t salts) {
  return std::string(1, static_cast<char>(salt_of(key, salts))).append(key);
}

// ---- Names and places ----

std::string reversed_domain(std::string_view address) {
  const std::string_view host = address.substr(0, address.find_first_of(":/?#"));
  std::string reversed;
  for (size_t end = host.size();;) {
    const size_t dot = end == 0 ? host.npos : host.rfind('.', end - 1);
    const size_t begin = dot == host.npos ? 0 : dot + 1;
    reversed.append(host.substr(begin, end - begin));
    if (dot == host.npos) break;
    reversed.push_back('.');
    end = dot;
  }
  return reversed.append(address.substr(host.size()));
}

namespace {

Status check_tile(const Tile& tile) {
  if (tile.zoom > kTileZoomMax)
    return Status::invalid_argument(fmt::format("zoom {}: at most {}", tile.zoom, kTileZoomMax));
  if (tile.x >> tile.zoom != 0 || tile.y >> tile.zoom != 0)
    return Status::invalid_argument(
        fmt::format("tile {}, {} does not exist at zoom {}", tile.x, tile.y, tile.zoom));
  return {};
}

// Returns the path of the tile from the root: two bits per level, the first level's highest.
uint64_t path_of(const Tile& tile) {
  uint64_t path = 0;
  for (int level = tile.zoom - 1; level >= 0; --level)
    path = path << 2 | (tile.y >> level & 1u) << 1 | (tile.x >> level & 1u);
  return path;
}

Tile tile_of_path(uint64_t path, uint8_t zoom) {
  Tile tile{.zoom = zoom};
  for (int level = zoom - 1; level >= 0; --level) {
    tile.x = tile.x << 1 | static_cast<uint32_t>(path >> (2 * level) & 1u);
    tile.y = tile.y << 1 | static_cast<uint32_t>(path >> (2 * level + 1) & 1u);
  }
  return tile;
}

// Returns the path in the highest bits of 64 bits; the lowest five bits are free for the zoom.
uint64_t packed_path(const Tile& tile) { return tile.zoom == 0 ? 0 : path_of(tile) << (64 - 2 * tile.zoom); }

}  // namespace

Result<Tile> tile_at(double latitude, double longitude, uint8_t zoom) {
  constexpr double kLatitudeMax = 85.05112878;
  CELLAR_TRY(check_tile({.zoom = zoom}));
  if (!(std::abs(latitude) <= 90) || !(std::abs(longitude) <= 180))
    return Status::invalid_argument(
        fmt::format("invalid place: latitude {}, longitude {}", latitude, longitude));
  const double north = std::clamp(latitude, -kLatitudeMax, kLatitudeMax) * std::numbers::pi / 180;
  const double x = (longitude + 180) / 360;
  const double y = 0.5 - std::log((1 + std::sin(north)) / (1 - std::sin(north))) / (4 * std::numbers::pi);
  const double tiles = std::ldexp(1, zoom);
  const auto place = [&](double part) {
    return static_cast<uint32_t>(std::clamp(std::floor(part * tiles), 0.0, tiles - 1));
  };
  return Tile{.x = place(x), .y = place(y), .zoom = zoom};
}

Result<std::string> quadkey(const Tile& tile) {
  CELLAR_TRY(check_tile(tile));
  std::string digits;
  const uint64_t path = path_of(tile);
  for (int level = tile.zoom - 1; level >= 0; --level)
    digits.push_back(static_cast<char>('0' + (path >> (2 * level) & 3u)));
  return digits;
}

Result<Tile> tile_of_quadkey(std::string_view digits) {
  if (digits.size() > kTileZoomMax)
    return Status::invalid_argument(
        fmt::format("a quadkey of {} digits: at most {}", digits.size(), kTileZoomMax));
  uint64_t path = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '3')
      return Status::invalid_argument(fmt::format("quadkey \"{}\": digits are 0 to 3", escaped(digits)));
    path = path << 2 | static_cast<uint64_t>(digit - '0');
  }
  return tile_of_path(path, static_cast<uint8_t>(digits.size()));
}

Result<std::string> packed_quadkey(const Tile& tile) {
  CELLAR_TRY(check_tile(tile));
  return plain_int64(static_cast<int64_t>(packed_path(tile) | tile.zoom));
}

Result<Tile> tile_of_packed(std::string_view bytes) {
  const std::optional<int64_t> number = int64_of_plain(bytes);
  if (!number)
    return Status::invalid_argument(fmt::format("a packed quadkey of {} bytes: it has 8", bytes.size()));
  const auto packed = static_cast<uint64_t>(*number);
  const auto zoom = static_cast<uint8_t>(packed & 0x1fu);
  const Tile tile = tile_of_path(zoom == 0 ? 0 : packed >> (64 - 2 * std::min(zoom, kTileZoomMax)), zoom);
  if (zoom > kTileZoomMax || (packed_path(tile) | zoom) != packed)
    return Status::invalid_argument(fmt::format("invalid packed quadkey {:016x}", packed));
  return tile;
}

Result<KeyRange> packed_quadkeys_within(const Tile& tile) {
  CELLAR_TRY_ASSIGN(std::string start, packed_quadkey(tile));
  const uint64_t next = tile.zoom == 0 ? 0 : packed_path(tile) + (uint64_t{1} << (64 - 2 * tile.zoom));
  return KeyRange{std::move(start), next == 0 ? std::string() : plain_int64(static_cast<int64_t>(next))};
}

}  // namespace cellar
