// Goal: decimals are read from texts and written as the shortest ones. Method: by hand, one line a case.
#include "base/decimal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace cellar::testing {
namespace {

std::string again(std::string_view text) {
  const Result<Decimal> number = parse_decimal(text);
  return number.ok() ? decimal_text(*number) : std::string(number.status().message());
}

TEST(Decimals, HaveOneText) {
  for (const auto& [text, shortest] : std::initializer_list<std::pair<const char*, const char*>>{
           {"0", "0"},
           {"-0.00", "0"},
           {"0e2147483647", "0"},
           {"+012.50", "12.5"},
           {"-125E-1", "-12.5"},
           {".5", "0.5"},
           {"5.", "5"},
           {"1e3", "1000"},
           {"1000e-3", "1"},
           {"0.000001", "0.000001"},
           {"0.0000001", "1e-7"},
           {"0.000000125", "1.25e-7"},
           {"1e30", "1000000000000000000000000000000"},
           {"1e31", "1e31"},
           {"12345678901234567890123456789012345", "1.2345678901234567890123456789012345e34"},
           {"-10e2147483647", "-1e2147483648"},
           {"12e-2147483647", "1.2e-2147483646"}}) {
    EXPECT_EQ(again(text), shortest) << text;
    EXPECT_EQ(parse_decimal(text).value().negative, shortest[0] == '-');
  }
}

TEST(Decimals, AreNotReadFromOtherTexts) {
  for (const char* text : {"",    "-",     "+",  ".",  "e5",   ".e5", "1e",  "1e+", "1e+-5", "1e5.0", "--1",
                           "-+1", "1.2.3", "1 ", " 1", "0x10", "1f",  "1,5", "inf", "nan",   "1e5e5"})
    EXPECT_EQ(parse_decimal(text).status().code(), Code::kInvalidArgument) << text;
  EXPECT_EQ(again("1x"), "\"1x\" is not a decimal number");
  EXPECT_EQ(again("1e2147483648"), "\"1e2147483648\" has an exponent beyond 2147483647");
  EXPECT_EQ(again("1e-99999999999999999999"),
            "\"1e-99999999999999999999\" has an exponent beyond 2147483647");
  EXPECT_EQ(again(std::string(100, '\n')).size(),
            60 * 4 + std::string("\"...\" is not a decimal number").size());
}

// The same sums and orders as those of whole numbers, by thousandths.
TEST(Decimals, AddAndCompareLikeNumbers) {
  Random random(5);
  const auto thousandths = [](int64_t number) {
    return decimal_of(number < 0, std::to_string(std::abs(number)), 3);
  };
  for (int round = 0; round < 2000; ++round) {
    const auto draw = [&] {
      return (static_cast<int64_t>(random.below(200)) - 100) * (random.below(2) == 0 ? 1 : 12345);
    };
    const int64_t a = draw();
    const int64_t b = draw();
    EXPECT_EQ(sum_of(thousandths(a), thousandths(b), 20).value(), thousandths(a + b)) << a << " " << b;
    EXPECT_EQ(is_less(thousandths(a), thousandths(b)), a < b) << a << " " << b;
    EXPECT_EQ(nearest_double(thousandths(a)), static_cast<double>(a) / 1000);
  }
}

TEST(Decimals, SumsAreExactOrTooLong) {
  const auto of = [](std::string_view text) { return parse_decimal(text).value(); };
  EXPECT_EQ(decimal_text(sum_of(of("1e20"), of("1e-5"), 40).value()), "100000000000000000000.00001");
  EXPECT_EQ(decimal_text(sum_of(of("-999.99"), of("-0.01"), 40).value()), "-1000");
  EXPECT_EQ(sum_of(of("1e20"), of("1e-20"), 41).value().digits.size(), 41u);
  EXPECT_EQ(sum_of(of("1e20"), of("1e-20"), 40).status().code(), Code::kLimit);
  EXPECT_EQ(sum_of(of("1e2147483647"), of("-1e-2147483647"), 1000).status().code(), Code::kLimit);
  EXPECT_EQ(sum_of(of("0"), of("1e400"), 3).value(), of("1e400"));
  EXPECT_EQ(sum_of(of("1e400"), of("-1e400"), 3).value(), Decimal());
  EXPECT_EQ(nearest_double(of("-1e400")), -HUGE_VAL);
  EXPECT_EQ(nearest_double(of("1e-400")), 0);
}

}  // namespace
}  // namespace cellar::testing
