// Goal: times are texts of ISO 8601 and come back. Method: moments by hand; random ones, there and back;
// texts that are no times.
#include "base/iso_time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace cellar::testing {
namespace {

std::optional<int64_t> micros_of(std::string_view text) { return parse_iso_time(text).value(); }

TEST(IsoTimes, AreDatesAndTimes) {
  EXPECT_EQ(iso_seconds(0), "1970-01-01T00:00:00");
  EXPECT_EQ(iso_seconds(-1), "1969-12-31T23:59:59");
  EXPECT_EQ(iso_seconds(951782400), "2000-02-29T00:00:00");
  EXPECT_EQ(iso_seconds(-62167219200), "0000-01-01T00:00:00");
  EXPECT_EQ(iso_seconds(-62167219201), std::nullopt);
  EXPECT_EQ(iso_seconds(253402300799), "9999-12-31T23:59:59");
  EXPECT_EQ(iso_seconds(253402300800), std::nullopt);
  EXPECT_EQ(iso_seconds(INT64_MIN), std::nullopt);
}

TEST(IsoTimes, AreReadInSeveralForms) {
  constexpr int64_t kMinute = 1795198440;
  EXPECT_EQ(micros_of("1970-01-02"), 86'400'000'000);
  EXPECT_EQ(micros_of("2026-11-20T18:14"), kMinute * 1'000'000);
  EXPECT_EQ(micros_of("2026-11-20 18:14:11Z"), (kMinute + 11) * 1'000'000);
  EXPECT_EQ(micros_of("2026-11-20T18:14:11.203"), (kMinute + 11) * 1'000'000 + 203'000);
  EXPECT_EQ(micros_of("2026-11-20T18:14:11.203456Z"), (kMinute + 11) * 1'000'000 + 203'456);
  for (const std::string_view text :
       {"", "2026", "2026-11", "2026-11-2", "2026-11-20T", "2026-11-20T18",
        "2026-11-20T18:14:", "2026-11-20T18:14:11.2", "2026-11-20T18:14:11.2034", "2026-11-20ZZ",
        "2026-11-20T18:14:11.2034567", "-2026-11-20"})
    EXPECT_EQ(micros_of(text), std::nullopt) << text;
  for (const std::string_view text : {"2026-13-01", "2026-02-29", "2026-01-00", "2026-01-01T24:00",
                                      "2026-01-01T00:60", "2026-01-01T00:00:60"})
    EXPECT_EQ(parse_iso_time(text).status().code(), Code::kInvalidArgument) << text;
}

TEST(IsoTimes, ComeBack) {
  Random random(9);
  for (int i = 0; i < 5000; ++i) {
    const int64_t seconds = -62167219200 + static_cast<int64_t>(random.below(62167219200 + 253402300800));
    EXPECT_EQ(micros_of(*iso_seconds(seconds)), seconds * 1'000'000) << seconds;
  }
}

}  // namespace
}  // namespace cellar::testing
