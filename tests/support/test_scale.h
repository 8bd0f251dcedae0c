// How much a long test does: CELLAR_TEST_SCALE, and numbers given by name in the environment; and what it
// did.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace cellar::testing {

inline uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// The scale of `./dev test`: every place of a sweep, fewer random cases.
inline constexpr double kDailyScale = 0.2;

// CELLAR_TEST_SCALE, or 1. Below 1: the short form; above: the long one.
inline double test_scale() {
  const char* scale = std::getenv("CELLAR_TEST_SCALE");
  return scale == nullptr ? 1 : std::strtod(scale, nullptr);
}

// A sweep visits every place at the daily scale or above, every fourth at a tenth, every eightieth at a
// two-hundredth.
inline uint64_t sweep_step() {
  return test_scale() >= kDailyScale ? 1
                                     : std::max<uint64_t>(1, static_cast<uint64_t>(0.4 / test_scale() + 0.5));
}

// So much of it as the scale says, at least 1.
inline uint64_t scaled(uint64_t whole) {
  return std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(whole) * test_scale()));
}

// Says how much was done, as "counted 1000 things". ./dev adds up the lines of all tests that count the same.
inline void count(uint64_t number, std::string_view what) {
  std::printf("counted %llu %.*s\n", static_cast<unsigned long long>(number), static_cast<int>(what.size()),
              what.data());
}

}  // namespace cellar::testing
