// Goal: decimals in keys are HBase's bytes, sort by value, and come back exactly. Bytes of any kind give a
// value or an error. Method: bytes made by HBase itself, sorted by Java. Drawn numbers are compared as
// integers of 128 bits. Each byte of HBase's is changed to every other one. Edges are written by hand.
#include "keys/numeric_key.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "cellar/keys.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// A value and the bytes that HBase makes of it.
struct Line {
  std::string kind;
  KeyOrder order = KeyOrder::kAscending;
  std::string value;
  std::string bytes;
};

std::vector<Line> hbases_lines() {
  std::ifstream file(std::string(CELLAR_TEST_DATA_DIR) + "/keys/hbase_numeric.txt");
  std::vector<Line> lines;
  std::string order;
  std::string digits;
  for (Line line; file >> line.kind >> order >> line.value >> digits; lines.push_back(line)) {
    line.order = order == "asc" ? KeyOrder::kAscending : KeyOrder::kDescending;
    line.bytes.clear();
    for (size_t i = 0; i + 1 < digits.size(); i += 2)
      line.bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return lines;
}

// Parses Java's text; std::stod throws where a double is subnormal.
double double_of_text(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

std::string key_of(std::string_view text, KeyOrder order = KeyOrder::kAscending) {
  return KeyBuilder().decimal(text, order).key().value();
}

// The key of the line's value, by way of its text.
std::string key_of(const Line& line) {
  return key_of(line.kind == "decimal_rounded" ? rounded_decimal(line.value).value() : line.value,
                line.order);
}

std::string text_of(std::string_view key) {
  KeyReader reader(key);
  std::string text = reader.decimal().value();
  EXPECT_TRUE(reader.at_end()) << hex(reader.rest());
  return text;
}

TEST(NumericKeys, AreHBasesNumerics) {
  const std::vector<Line> lines = hbases_lines();
  for (const Line& line : lines) {
    SCOPED_TRACE(fmt::format("{} {} {}", line.kind, line.value, hex(line.bytes)));
    EXPECT_EQ(hex(key_of(line)), hex(line.bytes));
    EXPECT_EQ(hex(key_of(text_of(line.bytes), line.order)), hex(line.bytes));
    EXPECT_EQ(key_fields_text(line.bytes), text_of(line.bytes));
    KeyReader reader(line.bytes);
    if (line.kind == "decimal_int64") {
      const int64_t value = std::stoll(line.value);
      EXPECT_EQ(hex(KeyBuilder().decimal_int64(value, line.order).key().value()), hex(line.bytes));
      EXPECT_EQ(reader.decimal_int64().value(), value);
      EXPECT_TRUE(reader.at_end());
    }
    if (line.kind == "decimal_float64") {
      const double value = double_of_text(line.value);
      EXPECT_EQ(hex(KeyBuilder().decimal_float64(value, line.order).key().value()), hex(line.bytes));
      const double back = reader.decimal_float64().value();
      EXPECT_TRUE(back == value || (std::isnan(back) && std::isnan(value))) << back;
      EXPECT_TRUE(reader.at_end());
    }
  }
  EXPECT_EQ(lines.size(), 1148u);
}

TEST(NumericKeys, SortAsJavaSortsTheirValues) {
  const std::vector<Line> lines = hbases_lines();
  int compared = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    const Line& before = lines[i - 1];
    const Line& line = lines[i];
    if (before.order != line.order) continue;
    const std::string left = key_of(before);
    const std::string right = key_of(line);
    EXPECT_LE(line.order == KeyOrder::kAscending ? left : right,
              line.order == KeyOrder::kAscending ? right : left)
        << before.value << " " << line.value;
    compared += left != right ? 1 : 0;
  }
  EXPECT_GT(compared, 700);
}

__extension__ using Wide = __int128;

TEST(NumericKeys, SortAndComeBackWithFieldsAroundThem) {
  struct Drawn {
    Wide parts = 0;  // of 10^12
    std::string text;
  };
  Random random(11);
  const auto draw = [&] {
    const auto places = static_cast<int>(random.below(13));
    auto unscaled = static_cast<int64_t>(random.next() >> random.below(64) >> 1);
    if (random.one_in(3)) unscaled = unscaled % 1000 * 100;
    if (random.one_in(2)) unscaled = -unscaled;
    Drawn drawn{.parts = unscaled, .text = fmt::format("{}e-{}", unscaled, places)};
    for (int i = places; i < 12; ++i) drawn.parts *= 10;
    return drawn;
  };
  for (int i = 0; i < 20000; ++i) {
    const Drawn a = draw();
    const Drawn b = draw();
    const KeyOrder order = random.one_in(2) ? KeyOrder::kDescending : KeyOrder::kAscending;
    const auto made = [&](const Drawn& drawn, int32_t behind) {
      return KeyBuilder().text("t").decimal(drawn.text, order).int32(behind).key().value();
    };
    const std::string left = made(a, 2);
    const std::string right = made(b, 1);
    const bool down = order == KeyOrder::kDescending;
    EXPECT_EQ(left < right, down ? b.parts < a.parts : a.parts < b.parts) << a.text << " " << b.text;
    KeyReader reader(left);
    EXPECT_EQ(reader.text().value(), "t");
    const std::string text = reader.decimal().value();
    EXPECT_EQ(reader.int32().value(), 2);
    EXPECT_EQ(parse_decimal(text).value(), parse_decimal(a.text).value());
    EXPECT_LE(text.size(), 45u);
  }
}

TEST(NumericKeys, HoldEveryInt64AndEveryDouble) {
  Random random(12);
  for (int i = 0; i < 20000; ++i) {
    const auto whole = static_cast<int64_t>(random.next()) >> random.below(64);
    const std::string key = KeyBuilder().decimal_int64(whole).key().value();
    EXPECT_EQ(KeyReader(key).decimal_int64().value(), whole);
    EXPECT_EQ(text_of(key), fmt::format("{}", whole));
    uint64_t bits = random.next();
    if (random.one_in(4)) bits &= 0x800000000000ffffu;  // next to zero
    const auto number = std::bit_cast<double>(bits);
    if (std::isnan(number)) continue;
    const std::string wide = KeyBuilder().decimal_float64(number).key().value();
    EXPECT_EQ(KeyReader(wide).decimal_float64().value(), number) << number;
  }
}

TEST(NumericKeys, RefuseWhatHBaseWouldChange) {
  const auto refused = [](std::string_view text) {
    const Status status = KeyBuilder().int8(1).decimal(text).key().status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    return std::string(status.message());
  };
  EXPECT_EQ(refused("12x"), "field 2: \"12x\" is not a decimal number");
  EXPECT_EQ(refused("-nan"), "field 2: \"-nan\" is not a decimal number");
  EXPECT_EQ(refused(std::string(32, '7')), "field 2: a decimal of 32 digits: at most 31");
  EXPECT_EQ(refused("1e2147483646"),
            "field 2: a decimal of 2147483647 digits before its point: at most 2147483646");
  EXPECT_EQ(refused("1.5e-2147483646"),
            "field 2: a decimal of 2147483647 digits after its point: at most 2147483646");
  EXPECT_EQ(refused("1e99999999999"), "field 2: \"1e99999999999\" has an exponent beyond 2147483647");
  // As HBase writes them.
  EXPECT_EQ(hex(key_of("9.99e2147483645")), "22fb3fffffffc7b4");
  EXPECT_EQ(hex(key_of("-9.9e2147483644")), "0804c0000000ec4b");
  EXPECT_EQ(hex(key_of("1.5e-2147483645")), "1604c00000011e");
  EXPECT_EQ(hex(key_of("1e-2147483646")), "1604c000000102");
  EXPECT_EQ(hex(key_of("1e33554429")), "22faffffff14");
  EXPECT_EQ(hex(key_of("1e33554430")), "22fb0100000002");
  EXPECT_EQ(hex(key_of("-1e33554430")), "0804fefffffffd");
  EXPECT_EQ(hex(key_of("1e-33554432")), "160500000002");
  EXPECT_EQ(hex(key_of("1e-33554433")), "1604feffffff14");
  EXPECT_EQ(hex(key_of("1e-33554434")), "1604feffffff02");
  for (const char* text :
       {"9.99e2147483645", "-9.9e2147483644", "1.5e-2147483645", "1e-2147483646", "1e33554429", "1e33554430",
        "-1e33554430", "1e-33554432", "1e-33554433", "1e-33554434"})
    EXPECT_EQ(text_of(key_of(text)), text);
  // Zeros are no digits.
  EXPECT_EQ(text_of(key_of("000" + std::string(31, '7') + std::string(100'000, '0'))),
            "7." + std::string(30, '7') + "e100030");
}

TEST(NumericKeys, DecimalsAreRoundedOnRequest) {
  const std::string nines(31, '9');
  EXPECT_EQ(rounded_decimal("-12.50").value(), "-12.5");
  EXPECT_EQ(rounded_decimal(nines + "4999").value(), "9." + nines.substr(1) + "e34");
  EXPECT_EQ(rounded_decimal(nines + "5").value(), "1e32");
  EXPECT_EQ(rounded_decimal("-0." + nines + "5").value(), "-1");
  EXPECT_EQ(rounded_decimal("12345678901234567890123456789012345").value(),
            "1.234567890123456789012345678901e34");
  EXPECT_EQ(rounded_decimal(std::string(20, '1') + std::string(11, '9') + "5").value(),
            "1." + std::string(18, '1') + "2e31");
  EXPECT_EQ(rounded_decimal(std::string(20, '1') + std::string(11, '0') + "49").value(),
            "1." + std::string(19, '1') + "e32");
  EXPECT_EQ(rounded_decimal("-Infinity").value(), "-inf");
  EXPECT_EQ(rounded_decimal("NaN").value(), "nan");
  EXPECT_EQ(rounded_decimal(nines + "5e2147483614").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(rounded_decimal("").status().code(), Code::kInvalidArgument);
}

TEST(NumericKeys, ReadersSayWhatDoesNotFit) {
  const auto whole = [](std::string_view text) { return KeyReader(key_of(text)).decimal_int64(); };
  const auto number = [](std::string_view text) { return KeyReader(key_of(text)).decimal_float64(); };
  EXPECT_EQ(whole("1e18").value(), 1'000'000'000'000'000'000);
  EXPECT_EQ(whole("-9223372036854775808").value(), INT64_MIN);
  EXPECT_EQ(whole("9223372036854775808").status().message(),
            "9223372036854775808 is not a whole number of 64 bits");
  for (const char* text : {"-9223372036854775809", "12.5", "0.5", "1e-9", "1e19", "9e18000",
                           "99999999999999999999", "inf", "-inf", "nan"})
    EXPECT_EQ(whole(text).status().code(), Code::kInvalidArgument) << text;
  EXPECT_EQ(number("0.1").value(), 0.1);
  EXPECT_EQ(number("0.1000000000000000055511151231257").value(), 0.1);
  EXPECT_EQ(number("-inf").value(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("5e-324").value(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(number("1e400").status().message(), "1e400 is out of the range of a double");
  for (const char* text : {"-1e309", "2e308", "1e-324", "-1e-400", "1e2147483645", "1e-2147483646"})
    EXPECT_EQ(number(text).status().code(), Code::kInvalidArgument) << text;

  const std::string key = KeyBuilder().decimal("1e400").int8(7).key().value();
  KeyReader reader(key);
  EXPECT_FALSE(reader.decimal_int64().ok());
  EXPECT_FALSE(reader.decimal_float64().ok());
  EXPECT_FALSE(reader.int8().ok());
  EXPECT_EQ(reader.decimal().value(), "1e400");
  EXPECT_FALSE(reader.decimal().ok());
  EXPECT_EQ(reader.int8().value(), 7);
  EXPECT_EQ(reader.decimal().status().message(), "the next field is not a field of a decimal");
  EXPECT_EQ(key_fields_text(KeyBuilder().text("a").decimal("-12.50").decimal("1e400").null().key().value()),
            "'a', -12.5, 1e400, null");
}

// Reads a decimal from bytes that end where their memory ends. Bytes that can be read must be those that a
// write gives.
bool readable(std::string_view bytes) {
  const auto memory = std::make_unique<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), memory.get());
  const std::string_view all(memory.get(), bytes.size());
  KeyReader reader(all);
  const Result<std::string> text = reader.decimal();
  if (!text.ok()) {
    EXPECT_EQ(text.status().code(), Code::kCorruption);
    EXPECT_EQ(reader.rest(), all);
    return false;
  }
  const auto mark = static_cast<uint8_t>(all[0]);
  const bool descending = mark >= 0x80;
  const std::string again = key_of(*text, descending ? KeyOrder::kDescending : KeyOrder::kAscending);
  EXPECT_EQ(again, all.substr(0, all.size() - reader.rest().size())) << hex(all);
  EXPECT_LE(text->size(), 45u);
  EXPECT_FALSE(key_fields_text(all).empty());
  return true;
}

TEST(NumericKeys, AnyBytesAreAValueOrAnError) {
  uint64_t values = 0;
  uint64_t errors = 0;
  const auto count = [&](bool read) { ++(read ? values : errors); };
  const std::vector<Line> lines = hbases_lines();
  const size_t chosen = std::min<size_t>(scaled(lines.size()), lines.size());
  for (size_t i = 0; i < chosen; ++i) {  // spread over all of them
    const Line& line = lines[i * lines.size() / chosen];
    EXPECT_TRUE(readable(line.bytes));
    for (size_t size = 0; size < line.bytes.size(); ++size)
      EXPECT_FALSE(readable(line.bytes.substr(0, size))) << line.value << " cut to " << size;
    std::string changed = line.bytes;
    for (size_t at = 0; at < changed.size(); ++at) {
      for (int change = 1; change < 256; ++change) {
        changed[at] = static_cast<char>(line.bytes[at] ^ change);
        count(readable(changed));
      }
      changed[at] = line.bytes[at];
    }
  }
  EXPECT_GT(values, 100 * chosen);
  EXPECT_GT(errors, 100 * chosen);
  Random random(13);
  const uint64_t rounds = scaled(200'000);
  for (uint64_t i = 0; i < rounds; ++i) {
    std::string bytes(1 + random.below(24), '\0');
    for (char& c : bytes) c = static_cast<char>(random.next());
    bytes[0] = static_cast<char>(0x07 + random.below(0x20));
    if (random.one_in(2)) bytes[0] = static_cast<char>(~bytes[0]);
    count(readable(bytes));
  }
}

TEST(NumericKeys, BytesThatNoWriterMakesAreCorrupt) {
  const auto why = [](std::string_view bytes) {
    KeyReader reader(bytes);
    const Status status = reader.decimal().status();
    EXPECT_EQ(status.code(), Code::kCorruption) << hex(bytes);
    return std::string(status.message());
  };
  EXPECT_EQ(why(""), "the next field is not a field of a decimal");
  EXPECT_EQ(why("\x24"), "the next field is not a field of a decimal");
  EXPECT_EQ(why("\x18"), "the key ends inside a field of a decimal");
  EXPECT_EQ(why("\x22\xfa\x01"), "the key ends inside a field of a decimal");
  EXPECT_EQ(why("\x17\x02"), "a field of a decimal with an unknown mark");
  EXPECT_EQ(why("\x13\xfd"), "a field of a decimal with an unknown mark");
  EXPECT_EQ(why("\x18\x01\x02"), "a field of a decimal that begins or ends with zeros");
  EXPECT_EQ(why(std::string_view("\x18\x03\x00", 3)), "a field of a decimal that begins or ends with zeros");
  EXPECT_EQ(why("\x22\x0a\x02"), "a field of a decimal with an exponent in the wrong form");
  EXPECT_EQ(why(std::string_view("\x22\xfa\x00\x00\x20\x02", 6)),
            "a field of a decimal with an exponent in more bytes than needed");
  EXPECT_EQ(why("\x22\xfb\xff\xff\xff\xff\x02"), "a field of a decimal out of bounds");
  EXPECT_EQ(why("\x22\xfc\x01\x01\x01\x01\x01\x02"), "a field of a decimal with an exponent out of bounds");
  EXPECT_EQ(why("\x18" + std::string(100'000, '\x03')), "a field of a decimal with too many digits");
  EXPECT_EQ(why("\x18" + std::string(15, '\x23') + '\x22'), "a field of a decimal out of bounds");
  // HBase rounds 0.99999999999999999999999999999999 to 1. These are its bytes until 2.4, and since 2.5.
  EXPECT_EQ(why("\x16\xff\xc8"), "a field of a decimal with a digit of 100 above 99");
  EXPECT_EQ(why("\x16" + std::string(8, '\0') + std::string("\0\2", 2)),
            "a field of a decimal with an exponent out of bounds");
}

}  // namespace
}  // namespace cellar::testing
