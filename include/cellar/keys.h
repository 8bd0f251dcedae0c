// Row keys and values: fields as bytes that sort like their values (HBase's OrderedBytes), numbers as bytes
// (HBase's Bytes), and ranges of keys. Also the usual techniques: reversed time, hashes and salts, reversed
// domains, quadkeys. No function here needs a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// ---- Composite keys

enum class KeyOrder : uint8_t { kAscending, kDescending };

// KeyBuilder: appends one field after the other. Keys of the same kinds of fields sort by the first field,
// then by the second, and so on, each in its own order. Every encoding is that of HBase's OrderedBytes, byte
// for byte; its first byte tells its kind. A value. One thread at a time.
//
//   const std::string key = KeyBuilder().text("sensor-7").int64(when, KeyOrder::kDescending).key().value();
class KeyBuilder {
 public:
  using Order = KeyOrder;
  static constexpr KeyOrder kAscending = KeyOrder::kAscending;

  KeyBuilder() = default;
  // Begins with these bytes as they are: a salt, or another builder's key.
  explicit KeyBuilder(std::string prefix) : bytes_(std::move(prefix)) {}

  KeyBuilder& null(Order order = kAscending);  // sorts before every other field, or after it if descending
  KeyBuilder& int8(int8_t value, Order order = kAscending);
  KeyBuilder& int16(int16_t value, Order order = kAscending);
  KeyBuilder& int32(int32_t value, Order order = kAscending);
  KeyBuilder& int64(int64_t value, Order order = kAscending);
  // Order: -infinity, numbers, infinity, NaN; -0.0 before 0.0. All NaNs have the same bytes, as in Java.
  KeyBuilder& float32(float value, Order order = kAscending);
  KeyBuilder& float64(double value, Order order = kAscending);
  // Adds a decimal number of any size, exactly, in as many bytes as it needs: OrderedBytes' Numeric, HBase's
  // OrderedNumeric. Only the value of the text counts: "12.5", "+012.50" and "125e-1" have the same bytes.
  // The text has digits, perhaps a point, perhaps an exponent ("1e400"), or is "inf", "-inf", "infinity" or
  // "nan" in any case. Order: -inf, numbers, inf, nan. There is no negative zero. For any other text key()
  // fails with kInvalidArgument. It also fails beyond kDecimalDigitsMax significant digits, which HBase would
  // round silently (see rounded_decimal), or 2,147,483,646 places before or after the point, HBase's limit.
  // From 10^702 on, HBase before 2.5 writes and reads other numbers.
  KeyBuilder& decimal(std::string_view text, Order order = kAscending);
  // The same for numbers. All three functions make fields of one kind, which sort by value.
  KeyBuilder& decimal_int64(int64_t value, Order order = kAscending);
  // Writes the shortest decimal that reads as this double: "0.1" for 0.1. As Java's Double.toString since
  // Java 19, which gives 4.9e-324 two digits. HBase with an older Java writes a few doubles with one digit
  // more.
  KeyBuilder& decimal_float64(double value, Order order = kAscending);
  // decimal() takes text. For a number use decimal_int64 or decimal_float64.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  KeyBuilder& decimal(Number value, Order order = kAscending) = delete;
  // Adds bytes without zeros, and a zero as their end. UTF-8 text sorts by code points. A zero byte makes
  // key() fail.
  KeyBuilder& text(std::string_view value, Order order = kAscending);
  // Adds any bytes, in the form of seven bits in each byte.
  KeyBuilder& blob(std::string_view value, Order order = kAscending);
  // Adds any bytes as they are; if descending, bytes without zeros. An ascending one extends to the end of
  // the key: no field may follow.
  KeyBuilder& last_blob(std::string_view value, Order order = kAscending);
  // Adds the number of bytes in two bytes, then the bytes, as Java's DataOutput writes a text. Shorter ones
  // sort first: "b" before "aa".
  KeyBuilder& sized(std::string_view value);
  // Adds bytes as they are: for fields of a fixed width that the reader knows.
  KeyBuilder& raw(std::string_view value);

  // Returns the key so far. Errors: kInvalidArgument with the first field that cannot be encoded; kLimit if
  // the key has more than 32,767 bytes, the limit of a row.
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

// KeyReader: reads the fields of a key, one after the other, ascending or descending as each field tells.
// Borrows the key. After a failure it stays before the field. One thread at a time.
class KeyReader {
 public:
  explicit KeyReader(std::string_view key) : rest_(key) {}

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  // Reads a null, and returns true, if one is next.
  bool take_null();
  // kCorruption if the next field is of another kind, or incomplete.
  Result<int8_t> int8();
  Result<int16_t> int16();
  Result<int32_t> int32();
  Result<int64_t> int64();
  Result<float> float32();
  Result<double> float64();
  // Returns the shortest text of the number: "-12.5"; "1e400" or "1.25e-7" from 10^31 on and below 0.000001;
  // or "inf", "-inf" or "nan". At most 45 characters. kCorruption also for bytes that KeyBuilder::decimal
  // does not write, such as more digits than kDecimalDigitsMax.
  Result<std::string> decimal();
  // The same as a number. kInvalidArgument if it does not fit: if it is not whole, or needs more than 64
  // bits. The double is the nearest one; it is 0 or infinite only if the decimal is.
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

// The largest number of significant digits of a decimal in a key: OrderedBytes.MAX_PRECISION.
constexpr size_t kDecimalDigitsMax = 31;
// Returns the decimal that HBase writes instead of this one, in the form of KeyReader::decimal. HBase keeps
// 31 significant digits and rounds half away from zero (RoundingMode.HALF_UP). Error: kInvalidArgument as of
// KeyBuilder::decimal, except for the number of digits.
Result<std::string> rounded_decimal(std::string_view text);

// Returns the fields of a key for people: "'sensor-7', 1500, null". Bytes that are not a field are escaped
// after a colon.
std::string key_fields_text(std::string_view key);
// Returns how many bytes the first `fields` fields of the key have. Error: kCorruption if the key has fewer,
// or other bytes in their place. KeySchema also knows fields that do not tell their kind.
Result<size_t> key_fields_bytes(std::string_view key, size_t fields);

// ---- Ranges

// KeyRange: rows from `start` up to but not including `stop`. An empty `stop` is no bound. Scan(range) reads
// them.
struct KeyRange {
  std::string start = {};
  std::string stop = {};
  bool operator==(const KeyRange&) const = default;
};
// Returns the range of all keys that begin with `prefix`.
KeyRange keys_with_prefix(std::string_view prefix);
// Returns the range of the keys that begin with `prefix` and continue with bytes from `from` up to but not
// including `until`. Both are encoded in the same way. An empty `until` is no bound: to the last key with the
// prefix.
KeyRange keys_between(std::string_view prefix, std::string_view from, std::string_view until);
// Returns the range of the same keys with `prefix` in front of each. A range without a bound ends with the
// last key that has the prefix.
KeyRange with_prefix(std::string_view prefix, const KeyRange& range);
// Returns the ranges in the order of their keys. Ranges that overlap or touch become one, and ranges without
// a key are left out. A range that ends before it starts is an error of the caller. It stays as it is, before
// the others, so that a read refuses it.
std::vector<KeyRange> joined_ranges(std::vector<KeyRange> ranges);
// Cuts a range at these keys, which Table::split_points returns: RangeSplits::rows. Returns the parts in the
// order of their keys. Each key of `within` is in one part. Cuts outside of it have no effect.
//
// With `whole_prefix` each cut moves back to the first key that has the same first `whole_prefix` bytes. All
// keys with one such prefix are then in one part, and the parts may be fewer. 0: cuts stay.
std::vector<KeyRange> key_ranges(std::vector<std::string> cuts, size_t whole_prefix = 0,
                                 const KeyRange& within = {});

// ---- Text

// Returns "0042" for 42 with 4 digits: texts of one width, which sort by number. Errors: kInvalidArgument for
// a negative number, and for fewer than 1 or more than 19 digits; kLimit if the number has more digits.
Result<std::string> zero_padded(int64_t value, size_t digits);
// Returns the number. kInvalidArgument if the text is not 1 to 19 digits, or if the number needs 64 bits.
Result<int64_t> int64_of_padded(std::string_view digits);
// Returns two lower-case digits for each byte. Texts sort as the bytes do.
std::string hex_text(std::string_view bytes);
// Returns the bytes. The digits may have either case. kInvalidArgument if the text has an odd number of
// digits, or another character.
Result<std::string> bytes_of_hex(std::string_view digits);

// ---- HBase's Bytes

// Return a number in big-endian bytes, as HBase's Bytes.toBytes writes it: short, int, long, float, double. A
// value of plain_int64 is a counter for Increment. As row keys negative numbers sort after positive ones:
// KeyBuilder sorts them.
std::string plain_int16(int16_t value);
std::string plain_int32(int32_t value);
std::string plain_int64(int64_t value);
std::string plain_float32(float value);
std::string plain_float64(double value);
// Return the number, or nothing if the bytes have another width.
std::optional<int16_t> int16_of_plain(std::string_view bytes);
std::optional<int32_t> int32_of_plain(std::string_view bytes);
std::optional<int64_t> int64_of_plain(std::string_view bytes);
std::optional<float> float32_of_plain(std::string_view bytes);
std::optional<double> float64_of_plain(std::string_view bytes);

// Returns eight bytes by which later times sort first: Long.MAX_VALUE - time, as HBase's reference guide
// proposes. The time is 0 or later, in any unit. A row is overwritten if two events get the same key, and
// many events share a millisecond. So use a unique time, reversed_time(engine->unique_time_us()), or add a
// unique field to the key.
std::string reversed_time(int64_t time);
// Returns the time, or nothing if the bytes are not a reversed time.
std::optional<int64_t> time_of_reversed(std::string_view bytes);

// ---- Hashes, and keys that rise

// Returns the MD5 (RFC 1321) of the bytes: 16 bytes, or 32 lower-case hex digits as HBase's
// MD5Hash.getMD5AsHex. As a row key it spreads rows evenly, and has a fixed size. Not for security.
std::string md5_bytes(std::string_view bytes);
std::string md5_hex(std::string_view bytes);

// Returns the first `bytes` (1 to 4) of the key's MurmurHash3 (32 bits, seed 0, big-endian). In front of the
// key it spreads neighbours apart. Equal keys have equal prefixes, so that a get stays one lookup.
std::string hash_prefix(std::string_view key, size_t bytes);

// Return one byte, 0 to salts - 1 by the same hash, and the key with this byte in front. `salts` is 1 to 256.
// A scan in the order of the keys reads all salts at once: salted_scan.h.
uint8_t salt_of(std::string_view key, uint32_t salts);
std::string salted(std::string_view key, uint32_t salts);
// Returns the key of a salted row: all but its first byte.
std::string_view unsalted(std::string_view row);

// ---- Names and places

// Returns "org.example.www:80/a.b" for "www.example.org:80/a.b", so that the hosts of a domain are
// neighbours. It is its own inverse.
std::string reversed_domain(std::string_view address);

// Tile: a square of the map after `zoom` divisions into quarters. x counts from the west, y from the north;
// both are below 2^zoom.
struct Tile {
  uint32_t x = 0;
  uint32_t y = 0;
  uint8_t zoom = 0;  // to 29
  bool operator==(const Tile&) const = default;
};
// Returns the tile of a place, in Web Mercator. Latitudes beyond 85.0511 count as 85.0511. kInvalidArgument
// for a zoom above 29 and for an invalid latitude or longitude.
Result<Tile> tile_at(double latitude, double longitude, uint8_t zoom);
// Returns "0231": one digit for each level. Tiles within a tile begin with its digits.
Result<std::string> quadkey(const Tile& tile);
Result<Tile> tile_of_quadkey(std::string_view digits);
// The same in eight bytes: two bits for each level from the top, and the zoom in the lowest five bits.
Result<std::string> packed_quadkey(const Tile& tile);
Result<Tile> tile_of_packed(std::string_view bytes);
// Returns the range of the packed keys of the tile and of all tiles within it.
Result<KeyRange> packed_quadkeys_within(const Tile& tile);
// Returns ranges of the packed keys of all tiles of zoom `zoom`, or of a greater one, that meet a box of the
// map. Edges belong to the box, which is in degrees. If west > east it crosses the date line. The ranges are
// sorted, disjoint and joined: Scan(ranges) reads them in one stream.
//
// The box is covered by tiles of one zoom, which is at most `zoom`. It is the greatest zoom of which at most
// `tiles_max` tiles suffice, on each side of the date line. So the ranges hold keys near the box too, and a
// reader tests each place. Tiles with a smaller zoom than `zoom` may be left out, although they meet the box.
// Error: kInvalidArgument for invalid degrees, or if south > north. Also for a zoom above 29, and unless
// tiles_max is 1 to 1,000,000.
Result<std::vector<KeyRange>> packed_quadkeys_in_box(double south, double west, double north, double east,
                                                     size_t tiles_max, uint8_t zoom);

// Returns the digits of a quadkey as a big-endian number of 2, 4 or 8 bytes: 27756 for "12301230". The zoom
// is not in it. So all tiles must have one zoom, which the reader knows. The numbers then sort like the
// quadkeys. kInvalidArgument for another width, and for a zoom above 8, 16 or 29.
Result<std::string> quadkey_number(const Tile& tile, size_t bytes);
// Returns the tile of a number. Errors are the same; also kInvalidArgument for a number that is too large.
Result<Tile> tile_of_number(std::string_view bytes, uint8_t zoom);

}  // namespace cellar
