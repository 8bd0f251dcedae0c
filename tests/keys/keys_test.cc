// Goal: fields are HBase's bytes, sort like their values, and come back; ranges, salts, domains and tiles
// hold what they promise. Method: bytes made by HBase itself; random composite keys, sorted both ways; edges
// by hand.
#include "cellar/keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "cellar/cell.h"

namespace cellar::testing {
namespace {

std::string unhex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return bytes;
}

double java_double(const std::string& text) {
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::stod(text);
}

// The key of one field, made as the line says.
KeyBuilder made(const std::string& kind, const std::string& value, KeyOrder order) {
  KeyBuilder key;
  if (kind == "int8") key.int8(static_cast<int8_t>(std::stoll(value)), order);
  if (kind == "int16") key.int16(static_cast<int16_t>(std::stoll(value)), order);
  if (kind == "int32") key.int32(static_cast<int32_t>(std::stoll(value)), order);
  if (kind == "int64") key.int64(std::stoll(value), order);
  if (kind == "float32")
    key.float32(value == "NaN" ? std::nanf("") : static_cast<float>(java_double(value)), order);
  if (kind == "float64")
    key.float64(value == "4.9E-324" ? std::numeric_limits<double>::denorm_min() : java_double(value), order);
  if (kind == "text") key.text(value, order);
  if (kind == "blobvar") key.blob(unhex(value), order);
  if (kind == "blobcopy") key.last_blob(value, order);
  if (kind == "null") key.null(order);
  return key;
}

// The same field, taken from the key and made again.
std::string made_again(const std::string& kind, const std::string& key, KeyOrder order) {
  KeyReader reader(key);
  KeyBuilder again;
  if (kind == "int8") again.int8(reader.int8().value(), order);
  if (kind == "int16") again.int16(reader.int16().value(), order);
  if (kind == "int32") again.int32(reader.int32().value(), order);
  if (kind == "int64") again.int64(reader.int64().value(), order);
  if (kind == "float32") again.float32(reader.float32().value(), order);
  if (kind == "float64") again.float64(reader.float64().value(), order);
  if (kind == "text") again.text(reader.text().value(), order);
  if (kind == "blobvar") again.blob(reader.blob().value(), order);
  if (kind == "blobcopy") again.last_blob(reader.last_blob().value(), order);
  if (kind == "null" && reader.take_null()) again.null(order);
  EXPECT_TRUE(reader.at_end());
  return again.key().value();
}

TEST(Keys, AreHBasesOrderedBytes) {
  std::ifstream file(std::string(CELLAR_TEST_DATA_DIR) + "/keys/hbase_ordered_bytes.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    SCOPED_TRACE(line);
    const size_t first = line.find(' ');
    const size_t second = line.find(' ', first + 1);
    const size_t last = line.rfind(' ');
    const std::string kind = line.substr(0, first);
    const KeyOrder order =
        line.substr(first + 1, second - first - 1) == "asc" ? KeyOrder::kAscending : KeyOrder::kDescending;
    const std::string value = last > second ? line.substr(second + 1, last - second - 1) : "";
    const std::string key = made(kind, value, order).key().value();
    EXPECT_EQ(hex(key), line.substr(last + 1));
    EXPECT_EQ(made_again(kind, key, order), key);
  }
  EXPECT_EQ(lines, 112);
}

TEST(Keys, OfSeveralFieldsSortFieldByField) {
  Random random(3);
  const auto text = [&] {
    std::string value(random.below(4), 'a');
    for (char& c : value) c = "ab\x7f\xff"[random.below(4)];
    return value;
  };
  const auto bytes = [&] {
    std::string value(random.below(9), '\0');
    for (char& c : value) c = static_cast<char>(random.below(3) * 127);
    return value;
  };
  using Fields = std::tuple<std::string, int64_t, std::string, double, std::string>;
  const auto draw = [&] {
    return Fields(text(), static_cast<int64_t>(random.below(5)) - 2, bytes(),
                  (static_cast<double>(random.below(5)) - 2) / 4, bytes());
  };
  const auto key_of = [](const Fields& f, unsigned down) {
    const auto order = [&](unsigned field) {
      return (down >> field & 1u) != 0 ? KeyOrder::kDescending : KeyOrder::kAscending;
    };
    return KeyBuilder()
        .text(std::get<0>(f), order(0))
        .int64(std::get<1>(f), order(1))
        .blob(std::get<2>(f), order(2))
        .float64(std::get<3>(f), order(3))
        .last_blob(std::get<4>(f))
        .key()
        .value();
  };
  const auto compare = [](const auto& a, const auto& b, bool down) {
    return a == b ? 0 : (a < b) != down ? -1 : 1;
  };
  for (int i = 0; i < 20000; ++i) {
    Fields a = draw();
    Fields b = draw();
    if (random.one_in(2)) std::get<0>(b) = std::get<0>(a);
    if (random.one_in(2)) std::get<2>(b) = std::get<2>(a);
    const auto down = static_cast<unsigned>(random.below(16));
    int expected = compare(std::get<0>(a), std::get<0>(b), (down & 1u) != 0);
    if (expected == 0) expected = compare(std::get<1>(a), std::get<1>(b), (down & 2u) != 0);
    if (expected == 0) expected = compare(std::get<2>(a), std::get<2>(b), (down & 4u) != 0);
    if (expected == 0) expected = compare(std::get<3>(a), std::get<3>(b), (down & 8u) != 0);
    if (expected == 0) expected = compare(std::get<4>(a), std::get<4>(b), false);
    const std::string left = key_of(a, down);
    const std::string right = key_of(b, down);
    EXPECT_EQ(compare(left, right, false), expected) << hex(left) << " " << hex(right);
    KeyReader reader(left);
    const Fields back{reader.text().value(), reader.int64().value(), reader.blob().value(),
                      reader.float64().value(), reader.last_blob().value()};  // braces: in this order
    EXPECT_EQ(back, a);
    EXPECT_TRUE(reader.at_end());
  }
}

TEST(Keys, RefuseWhatWouldNotComeBack) {
  EXPECT_EQ(KeyBuilder().int8(1).text(std::string("a\0b", 3)).key().status().message(),
            "field 2: a text with a zero byte at 1");
  EXPECT_EQ(KeyBuilder().last_blob("x").int8(1).key().status().message(),
            "field 2 follows a last_blob, which reaches to the end");
  EXPECT_TRUE(KeyBuilder().last_blob("x", KeyOrder::kDescending).int8(1).key().ok());
  EXPECT_FALSE(KeyBuilder().last_blob(std::string("\0", 1), KeyOrder::kDescending).key().ok());
  EXPECT_EQ(KeyBuilder().raw(std::string(kRowBytesMax + 1, 'x')).key().status().code(), Code::kLimit);
  EXPECT_TRUE(KeyBuilder().raw(std::string(kRowBytesMax, 'x')).key().ok());
}

TEST(Keys, ReadersRefuseOtherKindsAndCutFieldsAndStayWhereTheyAre) {
  const std::string key =
      KeyBuilder().int32(7).text("ab").blob("cd").float64(1.5).null().last_blob("end").key().value();
  KeyReader reader(key);
  EXPECT_FALSE(reader.text().ok());
  EXPECT_FALSE(reader.int64().ok());
  EXPECT_FALSE(reader.take_null());
  EXPECT_EQ(reader.int32().value(), 7);
  EXPECT_EQ(reader.raw(1).value(), "4");
  for (size_t size = 0; size < key.size(); ++size) {
    KeyReader cut(std::string_view(key).substr(0, size));
    const bool whole =
        cut.int32().ok() && cut.text().ok() && cut.blob().ok() && cut.float64().ok() && cut.take_null();
    const std::string_view stood = cut.rest();
    if (!whole) {
      EXPECT_FALSE(cut.last_blob().ok());
      EXPECT_EQ(cut.rest(), stood);
    }
  }
  EXPECT_EQ(key_fields_text(key), "7, 'ab', 'cd', 1.5, null, 'end'");
  EXPECT_EQ(key_fields_text("plain"), ":plain");
  EXPECT_EQ(key_fields_text(""), "");
}

TEST(Keys, SizedFieldsComeBackAndSortByTheirSizeFirst) {
  const auto key = [](std::string_view name, int64_t user) {
    return KeyBuilder().sized(name).int64(user).key().value();
  };
  for (const std::string& name :
       {std::string(), std::string("a"), std::string("a\0b", 3), std::string(300, 'x')}) {
    const std::string bytes = key(name, -7);
    KeyReader reader(bytes);
    EXPECT_EQ(reader.sized().value(), name);
    EXPECT_EQ(reader.int64().value(), -7);
    EXPECT_TRUE(reader.at_end());
    for (size_t cut = 0; cut < 2 + name.size(); ++cut) {
      KeyReader shorter(std::string_view(bytes).substr(0, cut));
      EXPECT_EQ(shorter.sized().status().code(), Code::kCorruption) << cut;
      EXPECT_EQ(shorter.rest().size(), cut);
    }
  }
  EXPECT_EQ(KeyBuilder().sized("ab").key().value(), std::string("\0\2ab", 4));
  EXPECT_LT(key("b", 1), key("aa", 1));
  EXPECT_LT(key("a", 1), key("b", 0));
  EXPECT_EQ(KeyBuilder().sized(std::string(40'000, 'x')).key().status().code(), Code::kLimit);
}

TEST(Keys, RangesHoldWhatBeginsAlike) {
  EXPECT_EQ(keys_with_prefix("ab"), (KeyRange{"ab", "ac"}));
  EXPECT_EQ(keys_with_prefix("a\xff"), (KeyRange{"a\xff", "b"}));
  EXPECT_EQ(keys_with_prefix("\xff"), (KeyRange{"\xff", ""}));
  const std::string sensor = KeyBuilder().text("s").key().value();
  const auto time = [](int64_t t) { return KeyBuilder().int64(t).key().value(); };
  const KeyRange range = keys_between(sensor, time(-5), time(10));
  for (const int64_t t : {-6, -5, 0, 9, 10}) {
    const std::string key = sensor + time(t);
    EXPECT_EQ(key >= range.start && key < range.stop, t >= -5 && t < 10) << t;
  }
}

TEST(Keys, ARangeWithAPrefixInFrontStaysWithinIt) {
  EXPECT_EQ(keys_between("a", "b", ""), (KeyRange{"ab", "b"}));
  EXPECT_EQ(keys_between("", "b", ""), (KeyRange{"b", ""}));
  EXPECT_EQ(with_prefix("x", {}), keys_with_prefix("x"));
  EXPECT_EQ(with_prefix("x", {"1", "2"}), (KeyRange{"x1", "x2"}));
  EXPECT_EQ(with_prefix("\xff", {"1", ""}), (KeyRange{"\xff"
                                                      "1",
                                                      ""}));
}

// A key is in one of the joined ranges exactly if it is in one of the given ranges.
TEST(Keys, JoinedRangesHoldTheSameKeys) {
  using Ranges = std::vector<KeyRange>;
  EXPECT_EQ(joined_ranges({}), Ranges{});
  EXPECT_EQ(joined_ranges({{"c", "d"}, {"a", "b"}, {"b", "c"}, {"x", "x"}}), (Ranges{{"a", "d"}}));
  EXPECT_EQ(joined_ranges({{"b", ""}, {"a", "aa"}, {"c", "d"}}), (Ranges{{"a", "aa"}, {"b", ""}}));
  EXPECT_EQ(joined_ranges({{"a", "b"}, {"d", "c"}}), (Ranges{{"d", "c"}, {"a", "b"}})) << "an error stays";
  Random random(3);
  const auto holds = [](const Ranges& ranges, const std::string& key) {
    return std::ranges::any_of(ranges, [&](const KeyRange& each) {
      return key >= each.start && (each.stop.empty() || key < each.stop);
    });
  };
  for (int round = 0; round < 2000; ++round) {
    Ranges ranges(random.below(7));
    for (KeyRange& each : ranges) {
      const auto from = static_cast<char>('a' + random.below(20));
      each.start = random.one_in(9) ? "" : std::string(1, from);
      if (!random.one_in(9)) each.stop = std::string(1, static_cast<char>(from + random.below(4)));
      if (each.start > each.stop && !each.stop.empty()) each.start = each.stop;
    }
    const Ranges joined = joined_ranges(ranges);
    for (size_t i = 1; i < joined.size(); ++i) {
      ASSERT_FALSE(joined[i - 1].stop.empty());
      ASSERT_LT(joined[i - 1].stop, joined[i].start);
    }
    for (char c = 'a'; c < 'z'; ++c)
      for (const std::string& key : {std::string(1, c), std::string(1, c) + "0"})
        ASSERT_EQ(holds(joined, key), holds(ranges, key)) << key << " round " << round;
  }
}

TEST(Keys, CutsMakeRangesThatCoverAll) {
  using Ranges = std::vector<KeyRange>;
  EXPECT_EQ(key_ranges({}), Ranges{{}});
  EXPECT_EQ(key_ranges({"b", "d"}), (Ranges{{"", "b"}, {"b", "d"}, {"d", ""}}));
  EXPECT_EQ(key_ranges({"b", "d", "b"}, 0, {"c", "e"}), (Ranges{{"c", "d"}, {"d", "e"}}));
  EXPECT_EQ(key_ranges({"c", "e", "f"}, 0, {"c", "e"}), (Ranges{{"c", "e"}}));
  // Two cuts within the keys that begin with "ab" become one, before all of them.
  EXPECT_EQ(key_ranges({"ab7", "ab9", "b", "cd1"}, 2),
            (Ranges{{"", "ab"}, {"ab", "b"}, {"b", "cd"}, {"cd", ""}}));
}

TEST(Keys, PaddedNumbersSortByValue) {
  EXPECT_EQ(zero_padded(42, 4).value(), "0042");
  EXPECT_EQ(zero_padded(0, 1).value(), "0");
  EXPECT_EQ(zero_padded(INT64_MAX, 19).value(), "9223372036854775807");
  EXPECT_EQ(zero_padded(42, 1).status().to_text(), "limit: 42 has more than 1 digits");
  EXPECT_TRUE(zero_padded(-1, 5).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(zero_padded(1, 0).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(zero_padded(1, 20).status().is(Code::kInvalidArgument));
  for (const int64_t value : {int64_t{0}, int64_t{7}, int64_t{1234567}, INT64_MAX})
    EXPECT_EQ(int64_of_padded(zero_padded(value, 19).value()).value(), value);
  for (const char* text : {"", "-1", "+1", " 1", "1x", "00000000000000000001", "9223372036854775808"})
    EXPECT_TRUE(int64_of_padded(text).status().is(Code::kInvalidArgument)) << text;
}

TEST(Keys, HexTextIsItsBytes) {
  EXPECT_EQ(hex_text(std::string_view("\x00\xaf", 2)), "00af");
  EXPECT_EQ(bytes_of_hex("00aF").value(), std::string("\x00\xaf", 2));
  EXPECT_EQ(bytes_of_hex("").value(), "");
  EXPECT_EQ(bytes_of_hex("0g").status().to_text(), "invalid_argument: \"g\" at place 1 is not a hex digit");
  for (const char* text : {"0", "0x", "zz", "::", "@@", "``"})
    EXPECT_TRUE(bytes_of_hex(text).status().is(Code::kInvalidArgument)) << text;
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(bytes_of_hex(hex_text(all)).value(), all);
}

TEST(Keys, PlainNumbersAreBigEndian) {
  EXPECT_EQ(hex(plain_int64(-1)), "ffffffffffffffff");
  EXPECT_EQ(hex(plain_int32(5)), "00000005");
  EXPECT_EQ(hex(plain_int16(-2)), "fffe");
  EXPECT_EQ(hex(plain_float64(1.5)), "3ff8000000000000");
  EXPECT_EQ(hex(plain_float32(-1.5F)), "bfc00000");
  for (const int64_t value : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
    EXPECT_EQ(int64_of_plain(plain_int64(value)), value);
    EXPECT_EQ(int32_of_plain(plain_int32(static_cast<int32_t>(value))), static_cast<int32_t>(value));
    EXPECT_EQ(int16_of_plain(plain_int16(static_cast<int16_t>(value))), static_cast<int16_t>(value));
  }
  EXPECT_EQ(float64_of_plain(plain_float64(-0.1)), -0.1);
  EXPECT_EQ(float32_of_plain(plain_float32(0.1F)), 0.1F);
  EXPECT_EQ(int64_of_plain("1234567"), std::nullopt);
  EXPECT_EQ(int32_of_plain(""), std::nullopt);

  EXPECT_LT(reversed_time(2000), reversed_time(1000));
  EXPECT_EQ(time_of_reversed(reversed_time(1234)), 1234);
  EXPECT_EQ(time_of_reversed("short"), std::nullopt);
  EXPECT_EQ(time_of_reversed(plain_int64(-1)), std::nullopt);
}

TEST(Keys, HashesAndSaltsDependOnTheKeyAloneAndSpread) {
  EXPECT_EQ(hash_prefix("key", 4).substr(0, 2), hash_prefix("key", 2));
  EXPECT_EQ(hash_prefix("key", 9).size(), 4u);
  std::vector<int> counts(16);
  for (int i = 0; i < 16000; ++i) {
    const std::string key = "user" + std::to_string(i);
    const std::string row = salted(key, 16);
    EXPECT_EQ(row, std::string(1, static_cast<char>(salt_of(key, 16))) + key);
    counts[salt_of(key, 16)] += 1;
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 200);
  EXPECT_EQ(salt_of("key", 1), 0);
}

TEST(Keys, DomainsAreReversedByLabels) {
  for (const auto& [address, reversed] : std::initializer_list<std::pair<const char*, const char*>>{
           {"www.example.org:80/a.b", "org.example.www:80/a.b"},
           {"hbase.apache.org", "org.apache.hbase"},
           {"localhost/x", "localhost/x"},
           {"", ""},
           {".a.", ".a."},
           {"a..b", "b..a"},
           {"example.org?q=a.b", "org.example?q=a.b"}}) {
    EXPECT_EQ(reversed_domain(address), reversed);
    EXPECT_EQ(reversed_domain(reversed), address);
  }
}

TEST(Keys, TilesAndTheirQuadkeys) {
  EXPECT_EQ(quadkey({.x = 3, .y = 5, .zoom = 3}).value(), "213");
  EXPECT_EQ(tile_of_quadkey("213").value(), (Tile{.x = 3, .y = 5, .zoom = 3}));
  EXPECT_EQ(quadkey({}).value(), "");
  // The Brandenburg Gate, as map servers number it.
  EXPECT_EQ(tile_at(52.5163, 13.3777, 17).value(), (Tile{.x = 70406, .y = 42987, .zoom = 17}));
  EXPECT_EQ(tile_at(90, 180, 2).value(), (Tile{.x = 3, .y = 0, .zoom = 2}));
  EXPECT_EQ(tile_at(-90, -180, 2).value(), (Tile{.x = 0, .y = 3, .zoom = 2}));
  EXPECT_FALSE(tile_at(91, 0, 2).ok());
  EXPECT_FALSE(tile_at(std::nan(""), 0, 2).ok());
  EXPECT_FALSE(tile_at(0, 0, 30).ok());
  EXPECT_FALSE(quadkey({.x = 8, .y = 0, .zoom = 3}).ok());
  EXPECT_FALSE(tile_of_quadkey("4").ok());
  EXPECT_FALSE(tile_of_quadkey(std::string(30, '0')).ok());

  Random random(5);
  for (int i = 0; i < 5000; ++i) {
    const auto zoom = static_cast<uint8_t>(random.below(30));
    const Tile tile{.x = static_cast<uint32_t>(random.below(uint64_t{1} << zoom)),
                    .y = static_cast<uint32_t>(random.below(uint64_t{1} << zoom)),
                    .zoom = zoom};
    const std::string packed = packed_quadkey(tile).value();
    EXPECT_EQ(tile_of_packed(packed).value(), tile);
    EXPECT_EQ(tile_of_quadkey(quadkey(tile).value()).value(), tile);
    const auto outer_zoom = static_cast<uint8_t>(random.below(30));
    const Tile outer{.x = zoom >= outer_zoom ? tile.x >> (zoom - outer_zoom) : 0,
                     .y = zoom >= outer_zoom ? tile.y >> (zoom - outer_zoom) : 0,
                     .zoom = outer_zoom};
    const KeyRange range = packed_quadkeys_within(outer).value();
    const bool inside = packed >= range.start && (range.stop.empty() || packed < range.stop);
    EXPECT_EQ(inside, quadkey(tile).value().starts_with(quadkey(outer).value()))
        << quadkey(tile).value() << " in " << quadkey(outer).value();
  }
  EXPECT_FALSE(tile_of_packed("short").ok());
  EXPECT_FALSE(tile_of_packed(plain_int64(30)).ok());
  EXPECT_FALSE(tile_of_packed(plain_int64(1 << 5)).ok());
}

// Every place in the box has its tile in one of the ranges, also at the edges and across the date line.
TEST(Keys, ABoxIsARangeOfTiles) {
  Random random(4);
  const auto holds = [](const std::vector<KeyRange>& ranges, const std::string& key) {
    return std::ranges::count_if(ranges, [&](const KeyRange& each) {
      return key >= each.start && (each.stop.empty() || key < each.stop);
    });
  };
  const auto degrees = [&](double from, double to) { return from + (to - from) * random.unit(); };
  for (int round = 0; round < 300; ++round) {
    double south = degrees(-90, 90);
    double north = random.one_in(9) ? south : degrees(-90, 90);
    if (south > north) std::swap(south, north);
    const double west = random.one_in(9) ? -180 : degrees(-180, 180);
    const double east = random.one_in(9) ? 180 : degrees(-180, 180);
    const auto zoom = static_cast<uint8_t>(random.below(30));
    const size_t tiles_max = 1 + random.below(60);
    const auto ranges = packed_quadkeys_in_box(south, west, north, east, tiles_max, zoom).value();
    ASSERT_LE(ranges.size(), 2 * tiles_max);
    ASSERT_EQ(joined_ranges(ranges), ranges);
    for (int i = 0; i < 50; ++i) {
      const double latitude = i == 0 ? south : i == 1 ? north : degrees(south, north);
      double longitude = i == 0 ? west : i == 1 ? east : degrees(west, west <= east ? east : east + 360);
      if (longitude > 180) longitude -= 360;
      const auto deeper = static_cast<uint8_t>(zoom + random.below(30u - zoom));
      const std::string key = packed_quadkey(tile_at(latitude, longitude, deeper).value()).value();
      ASSERT_EQ(holds(ranges, key), 1) << latitude << ", " << longitude << " in " << south << ", " << west
                                       << ", " << north << ", " << east << " zoom " << int{zoom};
    }
  }
  // A small box has few keys outside of it.
  const auto small = packed_quadkeys_in_box(47.3, 8.5, 47.4, 8.6, 16, 16).value();
  EXPECT_EQ(holds(small, packed_quadkey(tile_at(47.35, 8.55, 16).value()).value()), 1);
  EXPECT_EQ(holds(small, packed_quadkey(tile_at(47.35, 9.55, 16).value()).value()), 0);
  EXPECT_EQ(packed_quadkeys_in_box(-90, -180, 90, 180, 4, 16).value().size(), 1u) << "the world is one range";
  for (const auto& [box, tiles, zoom] : {std::tuple{std::array<double, 4>{1, 0, 0, 1}, 4, 16},
                                         {{0, 0, 91, 1}, 4, 16},
                                         {{0, -181, 1, 1}, 4, 16},
                                         {{0, 0, 1, 1}, 0, 16},
                                         {{0, 0, 1, 1}, 1'000'001, 16},
                                         {{0, 0, 1, 1}, 4, 30},
                                         {{NAN, 0, 1, 1}, 4, 16}})
    EXPECT_TRUE(packed_quadkeys_in_box(box[0], box[1], box[2], box[3], static_cast<size_t>(tiles),
                                       static_cast<uint8_t>(zoom))
                    .status()
                    .is(Code::kInvalidArgument));
}

TEST(Keys, QuadkeysAreNumbersOfTwoAndFourBytes) {
  const Tile tile = tile_of_quadkey("12301230").value();
  EXPECT_EQ(quadkey_number(tile, 2).value(), plain_int16(27756));
  EXPECT_EQ(quadkey_number(tile, 4).value(), plain_int32(27756));
  Random random(5);
  for (const size_t bytes : {2u, 4u, 8u}) {
    const auto zoom = static_cast<uint8_t>(bytes == 8 ? 29 : 4 * bytes);
    std::pair<std::string, std::string> before;
    for (int round = 0; round < 500; ++round) {
      const Tile any{.x = static_cast<uint32_t>(random.below(uint64_t{1} << zoom)),
                     .y = static_cast<uint32_t>(random.below(uint64_t{1} << zoom)),
                     .zoom = zoom};
      const std::string number = quadkey_number(any, bytes).value();
      EXPECT_EQ(number.size(), bytes);
      EXPECT_EQ(tile_of_number(number, zoom).value(), any);
      const std::string digits = quadkey(any).value();
      EXPECT_EQ(before.first < number, before.second < digits) << digits;
      before = {number, digits};
    }
  }
  EXPECT_TRUE(quadkey_number({.zoom = 9}, 2).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(quadkey_number({.zoom = 1}, 3).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(quadkey_number({.x = 9, .zoom = 1}, 2).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(tile_of_number("abc", 1).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(tile_of_number(plain_int16(4), 1).status().is(Code::kInvalidArgument));
}

}  // namespace
}  // namespace cellar::testing
