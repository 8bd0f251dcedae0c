// Goal: the error rates of runs are those of the optimum. Method: the memory of all filters is compared,
// and the expected number of reads in vain. Random other rates with the same memory must not be better.
#include "bloom/run_error_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace cellar::testing {
namespace {

using Runs = std::vector<uint64_t>;

std::vector<double> rates_of(double error_rate, const Runs& runs) {
  std::vector<double> rates;
  for (size_t i = 0; i < runs.size(); ++i) {
    Runs others = runs;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    rates.push_back(run_error_rate(error_rate, runs[i], others));
  }
  return rates;
}

double memory_of(const Runs& runs, const std::vector<double>& rates) {
  double memory = 0;
  for (size_t i = 0; i < runs.size(); ++i) memory -= static_cast<double>(runs[i]) * std::log(rates[i]);
  return memory;
}

double sum_of(const std::vector<double>& rates) { return std::accumulate(rates.begin(), rates.end(), 0.0); }

TEST(FilterAllocation, OfOneRunIsWhatWasAskedFor) {
  EXPECT_DOUBLE_EQ(run_error_rate(0.01, 1000, {}), 0.01);
  EXPECT_DOUBLE_EQ(run_error_rate(0.01, 0, {}), 0.01);
  const Runs empty = {0, 0};
  EXPECT_DOUBLE_EQ(run_error_rate(0.01, 1000, empty), 0.01);
}

TEST(FilterAllocation, OfEqualRunsIsEqual) {
  for (const double rate : rates_of(0.02, {500, 500, 500})) EXPECT_NEAR(rate, 0.02, 1e-6);
}

TEST(FilterAllocation, KeepsTheMemoryAndReadsLessInVain) {
  const Runs runs = {1'000'000, 100'000, 10'000, 1000};
  const std::vector<double> rates = rates_of(0.01, runs);
  const std::vector<double> uniform(runs.size(), 0.01);
  EXPECT_NEAR(memory_of(runs, rates) / memory_of(runs, uniform), 1, 0.001);
  EXPECT_LT(sum_of(rates), 0.4 * sum_of(uniform));
  EXPECT_GT(rates[0], 0.01);
  for (size_t i = 1; i < runs.size(); ++i) EXPECT_LE(rates[i], rates[i - 1]);
  EXPECT_NEAR(rates[1], rates[0] / 10, 1e-5);
}

TEST(FilterAllocation, IsNotBeatenByOtherRatesOfTheSameMemory) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    Runs runs;
    for (uint64_t i = 2 + random.below(6); i > 0; --i) runs.push_back(100 + random.below(100'000));
    const std::vector<double> rates = rates_of(0.05, runs);
    // Two runs trade memory.
    const size_t a = random.below(runs.size());
    const size_t b = random.below(runs.size());
    if (a == b) continue;
    std::vector<double> others = rates;
    const double share = static_cast<double>(1 + random.below(1000));
    others[a] *= std::exp(-share / static_cast<double>(runs[a]));
    others[b] *= std::exp(share / static_cast<double>(runs[b]));
    if (others[a] < 0.0001 || others[b] > 0.5) continue;
    EXPECT_NEAR(memory_of(runs, others), memory_of(runs, rates), 1e-6 * memory_of(runs, rates));
    EXPECT_GE(sum_of(others), sum_of(rates) * (1 - 1e-6)) << "round " << round;
  }
}

TEST(FilterAllocation, StaysInItsBounds) {
  const Runs huge = {uint64_t{1} << 40};
  EXPECT_DOUBLE_EQ(run_error_rate(0.01, 10, huge), 0.0001);
  const Runs tiny = {1, 1, 1};
  EXPECT_NEAR(run_error_rate(0.5, uint64_t{1} << 40, tiny), 0.5, 1e-3);
}

}  // namespace
}  // namespace cellar::testing
