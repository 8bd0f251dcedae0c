// Goal: what people type is understood exactly, and what is printed can be typed again.
// Method: tables of texts and what they mean.
#include "tools/frame/operands.h"

#include <gtest/gtest.h>

#include "cellar/cell.h"
#include "tools/frame/output.h"
#include "tools/frame/value_form.h"

namespace cellar::testing {
namespace {

TEST(Operands, Times) {
  EXPECT_EQ(parse_time("1763748251203").value(), 1763748251203);
  EXPECT_EQ(parse_time("1970-01-01").value(), 0);
  EXPECT_EQ(parse_time("2026-11-20").value(), 1795132800000);
  EXPECT_EQ(parse_time("2026-11-20T18:04:11.203Z").value(), 1795197851203);
  EXPECT_EQ(parse_time("2024-02-29T23:59").value(), 1709251140000);
  EXPECT_EQ(parse_time("LATEST").value(), kLatestTimestamp);
  EXPECT_GT(parse_time("now").value(), parse_time("now-2h").value());
  for (const char* bad : {"", "soon", "-5", "2026-13-01", "2026-11-20T", "2026-11-20x", "now-", "now-5y"})
    EXPECT_FALSE(parse_time(bad).ok()) << bad;
}

TEST(Operands, TimesThatDoNotExistAreRefused) {
  for (const char* bad : {"2026-02-30", "2026-02-29", "2100-02-29", "2026-04-31", "2026-00-10", "2026-01-00",
                          "2026-01-32", "-000-01-01", "2026-01-01T24:00", "2026-01-01T10:60",
                          "2026-01-01T10:59:60", "now-9223372036854775807", "now+9223372036854775807"})
    EXPECT_FALSE(parse_time(bad).ok()) << bad;
  for (const char* good : {"2024-02-29", "2000-02-29", "2026-12-31T23:59:59.999", "2026-04-30"})
    EXPECT_TRUE(parse_time(good).ok()) << good;
  const Status refused = parse_time("2026-02-30").status();
  EXPECT_EQ(refused.message(), "\"2026-02-30\" is not a date");
  EXPECT_EQ(refused.hint(), "2026-02 has 28 days");
}

TEST(Operands, CountsAreDigitsThatFit) {
  EXPECT_EQ(parse_count("0").value(), 0u);
  EXPECT_EQ(parse_count("18446744073709551615").value(), UINT64_MAX);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "1.5", "18446744073709551616"})
    EXPECT_FALSE(parse_count(bad).ok()) << bad;
  EXPECT_EQ(parse_integer("+5").value(), 5);
  for (const char* bad : {"", "+", "+-5", "9223372036854775808"})
    EXPECT_FALSE(parse_integer(bad).ok()) << bad;
}

TEST(Operands, PrintedTimesAreReadBack) {
  for (const int64_t time :
       {0L, 1L, 951782400000L, 1709164800000L, 1795197851203L, 4102444799999L, 253402300799999L})
    EXPECT_EQ(parse_time(time_text(time)).value(), time) << time_text(time);
  EXPECT_EQ(time_text(kLatestTimestamp), "LATEST");
  EXPECT_EQ(time_text(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(time_text(253402300800000), "253402300800000");
}

TEST(Operands, TimeRanges) {
  const auto range = [](std::string_view text) { return parse_time_range(text).value(); };
  EXPECT_EQ(range("5..9"), (std::pair<int64_t, int64_t>(5, 9)));
  EXPECT_EQ(range(".."), (std::pair<int64_t, int64_t>(0, kLatestTimestamp)));
  EXPECT_EQ(range("5.."), (std::pair<int64_t, int64_t>(5, kLatestTimestamp)));
  for (const char* bad : {"5", "9..5", "a..b"}) EXPECT_FALSE(parse_time_range(bad).ok()) << bad;
}

TEST(Operands, Columns) {
  EXPECT_EQ(parse_column("d:name").value().qualifier, "name");
  EXPECT_EQ(parse_column("d:").value().qualifier, "");
  EXPECT_EQ(parse_column("d").value().qualifier, std::nullopt);
  EXPECT_EQ(parse_column("d:a:b").value().qualifier, "a:b");
  EXPECT_EQ(parse_column("d:\\x00").value().qualifier, std::string(1, '\0'));
  EXPECT_EQ(parse_column(":name").value().family, "") << "as Hudi's files have it";
  EXPECT_EQ(parse_column(":").value().qualifier, "");
  EXPECT_FALSE(parse_column("").ok());
  EXPECT_FALSE(parse_one_column("d").ok());
}

TEST(Operands, Durations) {
  EXPECT_EQ(parse_duration_ms("500ms").value(), 500);
  EXPECT_EQ(parse_duration_ms("90s").value(), 90000);
  EXPECT_EQ(parse_duration_ms("15m").value(), 900000);
  EXPECT_EQ(parse_duration_ms("7d").value(), 604800000);
  EXPECT_EQ(parse_duration_ms("42").value(), 42);
  for (const char* bad : {"", "s", "1y", "-1s", "99999999999999999999d"})
    EXPECT_FALSE(parse_duration_ms(bad).ok());
}

TEST(Operands, ValuesInEveryFormComeBack) {
  const std::vector<std::pair<ValueForm, std::string>> cases = {
      {ValueForm::kEscaped, "a\\x00b"},
      {ValueForm::kUtf8, "naïve"},
      {ValueForm::kHex, "00ff"},
      {ValueForm::kLong, "-9"},
      {ValueForm::kInt, "77"},
      {ValueForm::kDouble, "0.25"},
      {ValueForm::kShort, "-2"},
      {ValueForm::kFloat, "0.1"},
      {ValueForm::kBoolean, "true"},
      {ValueForm::kBoolean, "false"},
      {ValueForm::kJson, "{\"a\":[1,\" \\\" x\"]}"}};
  for (const auto& [form, text] : cases) {
    std::string printed;
    append_value(printed, parse_value(text, form).value(), form);
    EXPECT_EQ(printed, text);
  }
  std::string odd;
  append_value(odd, "abc", ValueForm::kLong);
  EXPECT_EQ(odd, "abc") << "not 8 bytes long: shown escaped";
  EXPECT_FALSE(parse_value("0g", ValueForm::kHex).ok());
  EXPECT_FALSE(parse_value("40000", ValueForm::kShort).ok());
  EXPECT_FALSE(parse_value("yes", ValueForm::kBoolean).ok());
  EXPECT_FALSE(parse_value("{a: 1}", ValueForm::kJson).ok());
  EXPECT_EQ(parse_value("true", ValueForm::kBoolean).value(), "\xFF") << "as HBase's Bytes.toBytes";
  const auto json = [](std::string_view value) {
    std::string text;
    append_value(text, value, ValueForm::kJson);
    return text;
  };
  EXPECT_EQ(json("{ \"a b\" :\n[1, \"\\\" \" ] }"), "{\"a b\":[1,\"\\\" \"]}");
  EXPECT_EQ(json("not\nJSON"), "not\\x0AJSON");
  EXPECT_EQ(json("\"\xFF\""), "\"\\xFF\"");
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(json(deep), deep) << "the depth of a stored value costs no stack";
}

}  // namespace
}  // namespace cellar::testing
