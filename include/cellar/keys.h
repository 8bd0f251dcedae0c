// Row keys: fields as bytes that sort like their values (HBase's OrderedBytes), HBase's plain Bytes, ranges,
// and the usual tricks: reversed time, hash and salt prefixes, reversed domains, quadkeys. No function here
// needs a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// ---- Composite keys

enum class KeyOrder : uint8_t { kAscending, kDescending };

// KeyBuilder: fields one after the other; keys of the same kinds of fields sort by the first field, then the
// second, and so on, each in its own order. Every encoding is that of HBase's OrderedBytes, byte for byte,
// and says its kind in its first byte. A value; one thread at a time.
//
//   const std::string key = KeyBuilder().text("sensor-7").int64(when, KeyOrder::kDescending).key().value();
class KeyBuilder {
 public:
  using Order = KeyOrder;
  static constexpr KeyOrder kAscending = KeyOrder::kAscending;

  KeyBuilder() = default;
  // Begins with these bytes as they are: a salt, or another builder's key.
  explicit KeyBuilder(std::string prefix) : bytes_(std::move(prefix)) {}

  KeyBuilder& null(Order order = kAscending);  // sorts before every other field, or behind when descending
  KeyBuilder& int8(int8_t value, Order order = kAscending);
  KeyBuilder& int16(int16_t value, Order order = kAscending);
  KeyBuilder& int32(int32_t value, Order order = kAscending);
  KeyBuilder& int64(int64_t value, Order order = kAscending);
  // -infinity, numbers, infinity, NaN; -0.0 before 0.0. All NaNs are written alike, as in Java.
  KeyBuilder& float32(float value, Order order = kAscending);
  KeyBuilder& float64(double value, Order order = kAscending);
  // A decimal number of any size, exactly, in as many bytes as it needs: OrderedBytes' Numeric, HBase's
  // OrderedNumeric. Of the text only the value counts: "12.5", "+012.50" and "125e-1" are the same bytes.
  // Digits with a point or none, then perhaps an exponent, "1e400"; "inf", "-inf", "infinity", "nan" in
  // letters of any case: -inf, numbers, inf, nan. There is no negative zero. key() fails with
  // kInvalidArgument for any other text; for more than kDecimalDigitsMax significant digits, which HBase
  // would round without a word (see rounded_decimal); and for more than 2,147,483,646 places before or behind
  // the point, where HBase's end, too. From 10^702 on HBase before 2.5 writes and reads other numbers.
  KeyBuilder& decimal(std::string_view text, Order order = kAscending);
  // The same for numbers at hand; all three make fields of one kind, which sort by value among each other.
  KeyBuilder& decimal_int64(int64_t value, Order order = kAscending);
  // The shortest decimal that is read as this double: 0.1 is "0.1". As Java's Double.toString since Java 19,
  // which gives 4.9e-324 two digits; HBase with an older Java writes a few doubles with a digit more.
  KeyBuilder& decimal_float64(double value, Order order = kAscending);
  // A number is no text: decimal_int64 and decimal_float64 take it.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  KeyBuilder& decimal(Number value, Order order = kAscending) = delete;
  // Bytes without zeros, ended by one: UTF-8 text sorts by code points. A zero byte makes key() fail.
  KeyBuilder& text(std::string_view value, Order order = kAscending);
  // Any bytes, seven bits of them in each byte.
  KeyBuilder& blob(std::string_view value, Order order = kAscending);
  // Any bytes as they are; descending without zeros. Ascending they go on to the key's end: nothing may
  // follow.
  KeyBuilder& last_blob(std::string_view value, Order order = kAscending);
  // Any bytes behind their number, two bytes long, without a mark, as Java's DataOutput writes a text:
  // whoever reads it needs no end mark, but shorter ones sort first, "b" before "aa".
  KeyBuilder& sized(std::string_view value);
  // Bytes as they are, without a mark: fields of a fixed width whose reader knows it.
  KeyBuilder& raw(std::string_view value);

  // The key so far. kInvalidArgument naming the first field that cannot be encoded; kLimit beyond 32,767
  // bytes, the most that a row may have.
  Result<std::string> key() const;

 private:
  KeyBuilder& add(Order order, size_t from);
  KeyBuilder& add_number(char mark, uint64_t bits, size_t width, Order order);
  Status open_field();

  std::string bytes_;
  size_t fields_ = 0;
  bool closed_ = false;  // by last_blob
  Status failure_;
};

// KeyReader: takes a key apart, field by field, ascending or descending as each one says. Borrows the key.
// After a failure the reader stands where it stood. One thread at a time.
class KeyReader {
 public:
  explicit KeyReader(std::string_view key) : rest_(key) {}

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  // Takes a null, if one is next.
  bool take_null();
  // kCorruption when the next field is of another kind, or cut off.
  Result<int8_t> int8();
  Result<int16_t> int16();
  Result<int32_t> int32();
  Result<int64_t> int64();
  Result<float> float32();
  Result<double> float64();
  // The shortest text of the number: "-12.5"; from 10^31 on, and below 0.000001, as "1e400", "1.25e-7"; or
  // "inf", "-inf", "nan". At most 45 characters. kCorruption also for bytes that KeyBuilder::decimal does not
  // write, such as digits beyond kDecimalDigitsMax: what is read is written as the same bytes.
  Result<std::string> decimal();
  // The same as a number. kInvalidArgument where it does not fit, and the reader then stands before it: what
  // is not whole or needs more than 64 bits; a double is the nearest one, but neither 0 nor infinite unless
  // the decimal is.
  Result<int64_t> decimal_int64();
  Result<double> decimal_float64();
  Result<std::string> text();
  Result<std::string> blob();
  Result<std::string> last_blob();
  Result<std::string_view> sized();
  Result<std::string_view> raw(size_t bytes);

 private:
  Result<uint64_t> number(char mark, size_t width, const char* kind);
  Result<std::string> until_zero(char mark, const char* kind);

  std::string_view rest_;
};

// The most significant digits that a decimal in a key may have: OrderedBytes.MAX_PRECISION.
constexpr size_t kDecimalDigitsMax = 31;
// The decimal that HBase writes in place of this one: its first 31 significant digits, half rounded away from
// zero (RoundingMode.HALF_UP), in the form that KeyReader::decimal gives. kInvalidArgument as with
// KeyBuilder::decimal, but for the number of digits.
Result<std::string> rounded_decimal(std::string_view text);

// "'sensor-7', 1500, null": the fields of a key, for people; bytes that are no field are escaped behind a
// colon.
std::string key_fields_text(std::string_view key);

// ---- Ranges

// Rows from `start` on up to but not including `stop`; an empty `stop` is no bound: Scan(range).
struct KeyRange {
  std::string start;
  std::string stop;
  bool operator==(const KeyRange&) const = default;
};
KeyRange keys_with_prefix(std::string_view prefix);
// Keys that begin with `prefix` and go on at or after `from` and before `until`, both encoded alike.
KeyRange keys_between(std::string_view prefix, std::string_view from, std::string_view until);

// ---- HBase's Bytes

// Big-endian, as Bytes.toBytes writes them and Increment counts them. Negative numbers sort behind positive
// ones.
std::string plain_int16(int16_t value);
std::string plain_int32(int32_t value);
std::string plain_int64(int64_t value);
std::string plain_float32(float value);
std::string plain_float64(double value);
// The inverse; nothing where the width is another.
std::optional<int16_t> int16_of_plain(std::string_view bytes);
std::optional<int32_t> int32_of_plain(std::string_view bytes);
std::optional<int64_t> int64_of_plain(std::string_view bytes);
std::optional<float> float32_of_plain(std::string_view bytes);
std::optional<double> float64_of_plain(std::string_view bytes);

// Eight bytes by which later times sort first: Long.MAX_VALUE - time, as HBase's handbooks write it. Times of
// 0 or later.
std::string reversed_time(int64_t time);
std::optional<int64_t> time_of_reversed(std::string_view bytes);

// ---- Spreading keys that rise

// The first `bytes` (1 to 4) of the key's MurmurHash3 (32 bits, seed 0, big-endian): equal keys have equal
// prefixes, so a get stays one lookup, and neighbours lie apart.
std::string hash_prefix(std::string_view key, size_t bytes);

// One byte, 0 to salts - 1 by the same hash, in front of the key. `salts` is 1 to 256. A scan in order goes
// through all salts at once: see salted_scan.h.
uint8_t salt_of(std::string_view key, uint32_t salts);
std::string salted(std::string_view key, uint32_t salts);

// ---- Names and places

// "www.example.org:80/a.b" becomes "org.example.www:80/a.b", so that hosts of a domain are neighbours. Its
// own inverse.
std::string reversed_domain(std::string_view address);

// A square of the map: `zoom` levels of quarters, x from the west, y from the north, both below 2^zoom.
struct Tile {
  uint32_t x = 0;
  uint32_t y = 0;
  uint8_t zoom = 0;  // to 29
  bool operator==(const Tile&) const = default;
};
// The tile that a place lies in (Web Mercator; latitudes beyond 85.0511 count as there). kInvalidArgument for
// a zoom above 29 and for what is no place.
Result<Tile> tile_at(double latitude, double longitude, uint8_t zoom);
// "0231": a digit per level. Tiles within a tile share its digits.
Result<std::string> quadkey(const Tile& tile);
Result<Tile> tile_of_quadkey(std::string_view digits);
// The same in eight bytes: two bits per level from the top, the zoom in the lowest five.
Result<std::string> packed_quadkey(const Tile& tile);
Result<Tile> tile_of_packed(std::string_view bytes);
// Packed keys of the tile and of all tiles within it.
Result<KeyRange> packed_quadkeys_within(const Tile& tile);

}  // namespace cellar
