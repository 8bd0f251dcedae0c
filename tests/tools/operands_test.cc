// Goal: what people type is understood exactly, and what is printed can be typed again.
// Method: tables of texts and what they mean.
#include "tools/frame/operands.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "cellar/cell.h"
#include "tools/frame/output.h"
#include "tools/frame/short_text.h"
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

TEST(Operands, NumbersThatCouldBeDatesAreRefused) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"2026", "write 2026-01-01 for a year, or 2026ms for milliseconds (cellar help times)"},
      {"202611", "write 2026-11-01 for a month, or 202611ms for milliseconds (cellar help times)"},
      {"20261120", "write 2026-11-20 for a date, or 20261120ms for milliseconds (cellar help times)"},
      {"202611201804",
       "write 2026-11-20T18:04 for a date and time, or 202611201804ms for milliseconds (cellar help times)"},
      {"20261120180411",
       "write 2026-11-20T18:04:11 for a date and time, or 20261120180411ms for milliseconds (cellar help "
       "times)"},
      {"1763748251",
       "write 2025-11-21T18:04:11.000Z for seconds since 1970, or 1763748251ms for milliseconds (cellar help "
       "times)"}};
  for (const auto& [text, hint] : cases) {
    const Status refused = parse_time(text).status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(refused.hint(), hint);
    EXPECT_EQ(parse_written_time(text).value(), std::stoll(text));
    EXPECT_EQ(parse_time(std::string(text) + "ms").value(), std::stoll(text));
  }
  // No date, year or seconds: milliseconds.
  for (const char* text : {"0", "5", "77", "999", "1000", "1899", "2200", "20261320", "20260132", "2026112",
                           "202613", "900000000", "1763748251203", "99991231235959", "20261120246000"})
    EXPECT_EQ(parse_time(text).value(), std::stoll(text)) << text;
}

TEST(Operands, LongTextsAreCutInTheirMiddle) {
  EXPECT_EQ(shortened("short"), "short");
  const std::string key(40000, 'k');
  const std::string end(100, 'k');
  EXPECT_EQ(shortened("row \"" + key + "\" is long"),
            "row \"" + end + "…(40,000 characters)…" + end + "\" is long");
  EXPECT_EQ(shortened("row " + key + ": no"), "row " + end + "…(40,000 characters)…" + end + ": no");
  // Neither a byte's escape nor a character is divided.
  std::string escapes;
  for (int i = 0; i < 300; ++i) escapes += "\\x00";
  const std::string cut = shortened(escapes);
  EXPECT_EQ(cut.substr(0, cut.find("…")), escapes.substr(0, 100));
  std::string accents = "x";
  for (int i = 0; i < 500; ++i) accents += "é";
  const std::string cut_accents = shortened(accents);
  EXPECT_TRUE(is_utf8(cut_accents));
  EXPECT_LT(cut_accents.size(), 260u);
  std::string blanks;
  for (int i = 0; i < 20000; ++i) blanks += "a ";
  EXPECT_LT(shortened(blanks).size(), 2100u) << "many short words are cut, too";
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
