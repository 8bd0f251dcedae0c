// Goal: a schema makes the keys that KeyBuilder makes, and gives their fields back. It refuses all else, with
// the field and the reason. Method: keys of each type by hand; random schemas and values, there and back. Any
// bytes must be made again from their fields, or be refused.
#include "cellar/key_schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/random.h"
#include "cellar/cell.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using Values = std::vector<std::optional<std::string>>;

KeySchema schema_of(std::string_view text) {
  const Result<KeySchema> schema = KeySchema::parse(text);
  EXPECT_TRUE(schema.ok()) << schema.status().to_text();
  return schema.value();
}

// "message (hint)" of a text that is no schema.
std::string fault_of(std::string_view text) {
  const Status status = KeySchema::parse(text).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
  return fmt::format("{} ({})", status.message(), status.hint());
}

TEST(KeySchemas, MakeTheKeysOfKeyBuilder) {
  const KeySchema visits = schema_of("  user text,when   int64 desc ms , page text ");
  EXPECT_EQ(visits.to_text(), "user text, when int64 desc ms, page text");
  EXPECT_EQ(visits.names(), (std::vector<std::string>{"user", "when", "page"}));
  const std::string key =
      KeyBuilder().text("alice").int64(1795198451203, KeyOrder::kDescending).text("/a,b").key().value();
  const Values values = {"alice", "2026-11-20T18:14:11.203Z", "/a,b"};
  EXPECT_EQ(visits.key(values).value(), key);
  EXPECT_EQ(visits.values(key).value(), values);
  EXPECT_EQ(visits.text(key), "user=alice, when=2026-11-20T18:14:11.203Z, page='/a,b'");
  EXPECT_EQ(visits.json(key), R"({"user":"alice","when":"2026-11-20T18:14:11.203Z","page":"/a,b"})");
  EXPECT_EQ(visits.parse_values(visits.text(key)).value(), values);
  // A number is a time, too.
  EXPECT_EQ(visits.key({"alice", "1795198451203", "/a,b"}).value(), key);
}

TEST(KeySchemas, RangesAreOfTheFirstFields) {
  const KeySchema visits = schema_of("user text, day int32 d, page text");
  const auto range = [&](std::string_view text) {
    return visits.range(visits.parse_values(text).value()).value();
  };
  EXPECT_EQ(range("user=alice"), keys_with_prefix(KeyBuilder().text("alice").key().value()));
  EXPECT_EQ(range("user=alice,day=1970-01-03"),
            keys_with_prefix(KeyBuilder().text("alice").int32(2).key().value()));
  const std::string key = KeyBuilder().text("alice").int32(2).text("/").key().value();
  EXPECT_EQ(range("user=alice, day=2, page=/"), (KeyRange{key, key + '\0'}));
  EXPECT_EQ(range(""), KeyRange());
  EXPECT_EQ(range("user=null"), keys_with_prefix(KeyBuilder().null().key().value()));
  EXPECT_EQ(range("user='null'"), keys_with_prefix(KeyBuilder().text("null").key().value()));
}

struct Case {
  std::string type;
  std::string value;
  std::string key;
  std::string json;
};

TEST(KeySchemas, EachTypeHasItsBytesAndTexts) {
  const auto desc = KeyOrder::kDescending;
  const std::vector<Case> cases = {
      {"int8", "-128", KeyBuilder().int8(-128).key().value(), "-128"},
      {"int16 desc", "32767", KeyBuilder().int16(32767, desc).key().value(), "32767"},
      {"int32", "-7", KeyBuilder().int32(-7).key().value(), "-7"},
      {"int32 h", "2026-11-20T18:00:00Z", KeyBuilder().int32(498666).key().value(),
       "\"2026-11-20T18:00:00Z\""},
      {"int64", "9223372036854775807", KeyBuilder().int64(INT64_MAX).key().value(), "9223372036854775807"},
      {"int64 us", "1969-12-31T23:59:59.999999Z", KeyBuilder().int64(-1).key().value(),
       "\"1969-12-31T23:59:59.999999Z\""},
      {"int64 desc min", "1970-01-01T00:01:00Z", KeyBuilder().int64(1, desc).key().value(),
       "\"1970-01-01T00:01:00Z\""},
      {"int64 d", "-9223372036854775808", KeyBuilder().int64(INT64_MIN).key().value(),
       "-9223372036854775808"},
      {"int64 ms", "-9223372036854775808", KeyBuilder().int64(INT64_MIN).key().value(),
       "-9223372036854775808"},
      {"float32", "0.1", KeyBuilder().float32(0.1f).key().value(), "0.1"},
      {"float64", "-inf", KeyBuilder().float64(-HUGE_VAL).key().value(), "\"-inf\""},
      {"float64 desc", "1e+300", KeyBuilder().float64(1e300, desc).key().value(), "1e+300"},
      {"decimal", "-12.5", KeyBuilder().decimal("-12.50").key().value(), "\"-12.5\""},
      {"text", "", KeyBuilder().text("").key().value(), "\"\""},
      {"text desc", "na\xc3\xafve", KeyBuilder().text("na\xc3\xafve", desc).key().value(),
       R"("na\\xC3\\xAFve")"},
      {"blob", std::string("\0x", 2), KeyBuilder().blob(std::string("\0x", 2)).key().value(), R"("\\x00x")"},
      {"last_blob", "a'b", KeyBuilder().last_blob("a'b").key().value(), "\"a'b\""},
      {"last_blob desc", "ab", KeyBuilder().last_blob("ab", desc).key().value(), "\"ab\""},
      {"sized", "ab", std::string("\0\2ab", 4), "\"ab\""},
      {"raw(2)", "a\xff", "a\xff", R"("a\\xFF")"},
      {"raw", "a, 'b'", "a, 'b'", "\"a, 'b'\""},
      {"hex(2)", "07ff", "\x07\xff", "\"07ff\""},
      {"zero_padded(4)", "42", "0042", "42"},
      {"zero_padded(10) s", "2026-11-20T18:14:11Z", "1795198451", "\"2026-11-20T18:14:11Z\""},
      {"plain_int16", "-2", plain_int16(-2), "-2"},
      {"plain_int32", "7", plain_int32(7), "7"},
      {"plain_int64", "-9", plain_int64(-9), "-9"},
      {"plain_float32", "nan", plain_float32(std::nanf("")), "\"nan\""},
      {"plain_float64", "0.25", plain_float64(0.25), "0.25"},
      {"reversed_time ms", "1970-01-01T00:00:00.000Z", reversed_time(0), "\"1970-01-01T00:00:00.000Z\""},
      {"reversed_time", "17", reversed_time(17), "17"},
      {"packed_quadkey", "0231", packed_quadkey(tile_of_quadkey("0231").value()).value(), "\"0231\""}};
  for (const Case& each : cases) {
    const KeySchema schema = schema_of("f " + each.type);
    EXPECT_EQ(schema.to_text(), "f " + each.type);
    EXPECT_EQ(schema.key({each.value}).value(), each.key) << each.type;
    EXPECT_EQ(schema.values(each.key).value(), Values{each.value}) << each.type;
    EXPECT_EQ(schema.json(each.key), "{\"f\":" + each.json + "}") << each.type;
    EXPECT_EQ(schema.parse_values(schema.text(each.key)).value(), Values{each.value}) << each.type;
    EXPECT_EQ(schema.bytes_of_first(each.key, 1).value(), each.key.size()) << each.type;
  }
}

TEST(KeySchemas, AnInvalidTextSaysWhereAndWhat) {
  EXPECT_EQ(
      fault_of("user txt, when int64"),
      "the schema of keys \"user txt, when int64\": field 1: unknown type \"txt\" (did you mean text?)");
  EXPECT_EQ(fault_of("user text, when"),
            "the schema of keys \"user text, when\": field 2: the type is missing (write when text)");
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"", "there is no name and no type"},
      {"a text,", "field 2: there is no name and no type"},
      {"a text, a text", "the name a is used twice"},
      {"1a text", "\"1a\" is no name of a field"},
      {"a Text", "did you mean text?"},
      {"a text upward", "unknown word \"upward\" after text (asc, desc, or"},
      {"a int64 descending", "did you mean desc?"},
      {"a raw(2) desc", "raw takes no desc"},
      {"a reversed_time desc", "reversed_time takes no desc"},
      {"a text ms", "text is no time in ms"},
      {"a int16 s", "int16 is no time in s"},
      {"a hex", "hex needs a number from 1 to 32767 in parentheses: hex(8)"},
      {"a raw(0)", "raw needs a number from 1 to 32767"},
      {"a raw(32768)", "raw needs a number"},
      {"a raw(99999999999999999999999)", "raw needs a number"},
      {"a raw()", "raw needs a number"},
      {"a zero_padded(20)", "zero_padded needs a number from 1 to 19"},
      {"a int64(8)", "int64 has no number in parentheses"},
      {"a raw, b text", "field 2: it follows a raw, which takes all bytes to the end of the key"},
      {"a last_blob, b text", "it follows a last_blob"},
      {std::string(5000, 'a'), "a schema of keys has 5000 bytes: at most 4096"}};
  for (const auto& [text, part] : parts)
    EXPECT_NE(fault_of(text).find(part), std::string::npos) << fault_of(text);
  std::string many;
  for (int i = 0; i < 101; ++i) many += fmt::format("{}f{} int8", i == 0 ? "" : ", ", i);
  EXPECT_NE(fault_of(many).find("at most 100 fields"), std::string::npos);
  EXPECT_TRUE(KeySchema::parse("a last_blob desc, b text").ok());
}

TEST(KeySchemas, InvalidValuesNameTheirField) {
  const KeySchema schema = schema_of("user text, when int32 s, salt raw(2), n int8");
  const auto fault = [&](std::string_view text) {
    const auto values = schema.parse_values(text);
    const Status status = values.ok() ? schema.range(*values).status() : values.status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    return fmt::format("{} ({})", status.message(), status.hint());
  };
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"usr=a", "the key has no field \"usr\" (did you mean user?)"},
      {"alice", "\"alice\" is not FIELD=VALUE (the fields are: user text, when int32 s"},
      {"user=a,", "\"\" is not FIELD=VALUE"},
      {"when=1", "field when comes where user is to be"},
      {"user=a,user=b", "field user comes where when is to be"},
      {"user=a,when=1,salt=ab,n=1,n=1", "field n comes twice"},
      {"user='a", "field user of the key: a quote is not closed"},
      {"user='a'b", "a comma is missing after a value in quotes"},
      {"user=\\x", "field user of the key: "},
      {"user=a\\x00b", "field user of the key: field 1: a text with a zero byte"},
      {"user=a,when=noon", "field when of the key: \"noon\" is no time (write 2026-11-20"},
      {"user=a,when=2026-02-30", "2026-02 has 28 days"},
      {"user=a,when=2026-02-20T00:00:00.5Z", "is no time"},
      {"user=a,when=2026-02-20T00:00:00.500Z", "is no whole number of s since 1970"},
      {"user=a,when=2300-01-01", "is beyond int32"},
      {"user=a,when=1,salt=abc", "field salt of the key: it has 3 bytes, and not 2"},
      {"user=a,when=1,salt=null", "field salt of the key: raw cannot be null"},
      {"user=a,when=1,salt=ab,n=200", "200 is beyond int8: -128 to 127"},
      {"user=a,when=1,salt=ab,n=x", "\"x\" is no int8"}};
  for (const auto& [text, part] : parts) EXPECT_NE(fault(text).find(part), std::string::npos) << fault(text);
  EXPECT_EQ(schema.key({"a"}).status().message(), "field when of the key is missing");
  EXPECT_EQ(schema.key({"a", "1", "ab", "1", "1"}).status().message(), "5 values for a key of 4 fields");
  EXPECT_EQ(schema.range({std::string(40000, 'a')}).status().code(), Code::kLimit);
}

TEST(KeySchemas, KeysThatDoNotFitAreToldAndShown) {
  const KeySchema schema = schema_of("user text, n int8");
  const std::string key = KeyBuilder().text("a").int8(1).key().value();
  const auto fault = [&](std::string_view bytes) {
    const Status status = schema.values(bytes).status();
    EXPECT_EQ(status.code(), Code::kCorruption);
    return std::string(status.message());
  };
  EXPECT_EQ(fault("plain"), "field user of the key: at byte 0: the next field is not a field of text");
  EXPECT_EQ(fault(key.substr(0, 3)), "field n of the key: at byte 3: the key ends before it");
  EXPECT_EQ(fault(key + "!"), "the key has 1 bytes after its last field n, from byte 5 on");
  EXPECT_EQ(fault(KeyBuilder().text("a", KeyOrder::kDescending).key().value()),
            "field user of the key: at byte 0: no ascending field of OrderedBytes is there");
  EXPECT_EQ(schema.text("plain"), ":plain");
  EXPECT_EQ(schema.text(key + "!"), "user=a, n=1, :!");
  EXPECT_EQ(schema.text(key.substr(0, 3)), "user=a");
  EXPECT_EQ(schema.text(""), "");
  EXPECT_EQ(schema.json(key + "\x01"), R"({"user":"a","n":1,":":"\\x01"})");
  EXPECT_EQ(schema.json("\x01"), R"({":":"\\x01"})");
  EXPECT_EQ(schema.json(""), "{}");
  EXPECT_EQ(schema.bytes_of_first(key + "!", 2).value(), 5u);
  EXPECT_EQ(schema.bytes_of_first(key, 9).value(), 5u);
  EXPECT_EQ(schema.bytes_of_first(key, 0).value(), 0u);
  EXPECT_FALSE(schema.bytes_of_first("plain", 1).ok());
}

const std::vector<std::string>& types() {
  static const std::vector<std::string> all = {
      "int8",           "int16 desc",      "int32",          "int64 desc",    "float32",
      "float64 desc",   "decimal",         "text",           "text desc",     "blob",
      "last_blob desc", "sized",           "raw(3)",         "hex(2)",        "int32 s",
      "zero_padded(5)", "plain_int16",     "plain_int64 ms", "plain_float32", "plain_int32",
      "int64 us",       "reversed_time s", "packed_quadkey", "int32 desc d"};
  return all;
}

std::string random_schema(Random& random) {
  std::string text;
  const uint64_t fields = 1 + random.below(5);
  for (uint64_t i = 0; i < fields; ++i)
    text += fmt::format("{}f{} {}", i == 0 ? "" : ", ", i, types()[random.below(types().size())]);
  if (random.below(4) == 0) text += random.below(2) == 0 ? ", last raw" : ", last last_blob";
  return text;
}

std::string random_bytes(Random& random, size_t size_max) {
  std::string bytes(random.below(size_max + 1), '\0');
  for (char& c : bytes)
    c = static_cast<char>(random.below(3) == 0 ? "\0\xff,' =n"[random.below(7)] : random.below(256));
  return bytes;
}

// Any bytes either are a key that their fields make again, also from the text, or are refused.
TEST(KeySchemas, AnyBytesComeBackOrAreRefused) {
  Random random(71);
  size_t fitting = 0;
  const uint64_t rounds = std::max<uint64_t>(scaled(20000), 2000);  // few keys fit
  for (uint64_t round = 0; round < rounds; ++round) {
    const KeySchema schema = schema_of(random_schema(random));
    EXPECT_EQ(schema_of(schema.to_text()).to_text(), schema.to_text());
    std::string key = random_bytes(random, 40);
    const auto marks = std::string_view("\x05\x29\x2a\x2b\x2c\x30\x31\x34\x37\x38\x15");
    if (!key.empty() && random.below(2) == 0) key[0] = marks[random.below(marks.size())];
    const Result<Values> values = schema.values(key);
    (void)schema.json(key);
    const std::string text = schema.text(key);
    EXPECT_EQ(values.ok(), schema.parse_values(text).ok() && schema.key(*schema.parse_values(text)).ok())
        << text;
    if (!values.ok()) continue;
    ++fitting;
    EXPECT_EQ(schema.key(*values).value(), key) << escaped(key);
    EXPECT_EQ(schema.parse_values(text).value(), *values) << text;
  }
  EXPECT_GT(fitting, rounds / 100);
}

// A value of a type as KeyBuilder takes it, and as text.
std::string random_value(Random& random, const std::string& type) {
  const std::string word = type.substr(0, type.find_first_of(" ("));
  const auto number = [&](int64_t bound) {
    return fmt::format("{}", static_cast<int64_t>(random.below(2 * static_cast<uint64_t>(bound))) - bound);
  };
  if (word == "int8") return number(128);
  if (word == "int16" || word == "plain_int16") return number(32768);
  if (word == "int32" || word == "plain_int32") return number(int64_t{1} << 31);
  if (word == "int64" || word == "plain_int64") return number(int64_t{1} << 62);
  if (word == "zero_padded") return fmt::format("{}", random.below(100000));
  if (word == "reversed_time") return fmt::format("{}", random.below(uint64_t{1} << 62));
  if (word == "float32" || word == "plain_float32")
    return fmt::format("{}", static_cast<float>(random.below(1000)) / 7);
  if (word == "float64") return fmt::format("{}", static_cast<double>(random.below(1000)) / -7);
  if (word == "decimal") return fmt::format("-{}.{}1", 1 + random.below(100), random.below(100));
  if (word == "packed_quadkey") return random.below(2) == 0 ? "0123" : "3";
  if (word == "raw") return random_bytes(random, 0) + "abc";
  if (word == "hex") return "00ff";
  std::string text = random_bytes(random, 6);
  if (word == "text" || word == "last_blob") std::erase(text, '\0');
  return text;
}

TEST(KeySchemas, RandomValuesComeBack) {
  Random random(72);
  for (uint64_t round = 0; round < scaled(20000); ++round) {
    std::string text;
    Values values;
    const uint64_t fields = 1 + random.below(5);
    for (uint64_t i = 0; i < fields; ++i) {
      const std::string& type = types()[random.below(types().size())];
      text += fmt::format("{}f{} {}", i == 0 ? "" : ", ", i, type);
      values.emplace_back(random_value(random, type));
    }
    const KeySchema schema = schema_of(text);
    const Result<std::string> key = schema.key(values);
    ASSERT_TRUE(key.ok()) << key.status().to_text() << text;
    const Values found = schema.values(*key).value();
    EXPECT_EQ(schema.key(found).value(), *key) << text;
    EXPECT_EQ(schema.values(schema.key(schema.parse_values(schema.text(*key)).value()).value()).value(),
              found);
    // The range of the first fields holds the key, and begins with them.
    const size_t first = random.below(fields + 1);
    const KeyRange range =
        schema.range({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first)}).value();
    EXPECT_GE(*key, range.start);
    if (!range.stop.empty()) {
      EXPECT_LT(*key, range.stop);
    }
    EXPECT_EQ(key->substr(0, schema.bytes_of_first(*key, first).value()), range.start);
  }
}

TEST(KeySchemas, FieldsThatTellTheirKindAreCounted) {
  const std::string key = KeyBuilder().text("a").int64(7).decimal("1.5").null().key().value();
  EXPECT_EQ(key_fields_bytes(key, 0).value(), 0u);
  EXPECT_EQ(key_fields_bytes(key, 1).value(), 3u);
  EXPECT_EQ(key_fields_bytes(key, 2).value(), 12u);
  EXPECT_EQ(key_fields_bytes(key, 4).value(), key.size());
  EXPECT_EQ(key_fields_bytes(key, 5).status().message(), "the key has 4 fields, and not 5");
  EXPECT_EQ(key_fields_bytes(key.substr(0, 3) + "!", 2).status().message(),
            "no field of OrderedBytes begins at byte 3");
}

}  // namespace
}  // namespace cellar::testing
