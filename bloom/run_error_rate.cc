// Error rates of Bloom filters: the optimum's one unknown, found by halving an interval.
#include "bloom/run_error_rate.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace cellar {
namespace {

constexpr double kRateMin = 0.0001;
constexpr double kRateMax = 0.5;  // with one bit per key and less, a filter is not worth its place

// The rate of a run with so many keys, and what its filter takes in units of 1 / ln(2)^2 bits.
double rate_of(double keys, double per_key) { return std::clamp(keys * per_key, kRateMin, kRateMax); }
double memory_of(double keys, double per_key) { return -keys * std::log(rate_of(keys, per_key)); }

}  // namespace

double run_error_rate(double error_rate, uint64_t keys, std::span<const uint64_t> others) {
  CELLAR_ASSERT(error_rate > 0 && error_rate <= kRateMax);
  const double own = std::max(1.0, static_cast<double>(keys));
  const auto memory_at = [&](double per_key) {
    double memory = memory_of(own, per_key);
    for (const uint64_t each : others) memory += memory_of(static_cast<double>(each), per_key);
    return memory;
  };
  double all = own;
  for (const uint64_t each : others) all += static_cast<double>(each);
  if (all == own) return error_rate;
  const double budget = -all * std::log(error_rate);
  // More per key: higher rates, and less memory.
  double low = std::log(kRateMin / all);
  double high = 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (memory_at(std::exp(middle)) > budget ? low : high) = middle;
  }
  return rate_of(own, std::exp(high));
}

}  // namespace cellar
