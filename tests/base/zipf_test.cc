// Goal: random ranks have the frequencies of a Zipf distribution. Method: the counts of many draws are
// compared with the exact frequencies by a chi-square sum, for skews below, at and above 1.
#include "base/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cellar::testing {
namespace {

constexpr int kDraws = 200'000;

// Returns the chi-square sum, which is about the number of ranks if the frequencies are right.
double chi_square(uint64_t ranks, double skew) {
  double all = 0;
  for (uint64_t r = 0; r < ranks; ++r) all += std::pow(r + 1, -skew);
  std::vector<int> counts(ranks);
  Random random(17);
  const Zipf zipf(ranks, skew);
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t rank = zipf(random);
    EXPECT_LT(rank, ranks);
    ++counts[std::min(rank, ranks - 1)];
  }
  double sum = 0;
  for (uint64_t r = 0; r < ranks; ++r) {
    const double expected = kDraws * std::pow(r + 1, -skew) / all;
    sum += (counts[r] - expected) * (counts[r] - expected) / expected;
  }
  return sum;
}

TEST(Zipf, HaveTheFrequenciesOfTheirRanks) {
  for (const double skew : {0.1, 0.5, 0.99, 1.0, 1.01, 2.0}) {
    // 49 degrees of freedom: 99.99 % of the sums are below 98.
    EXPECT_LT(chi_square(50, skew), 98) << "skew " << skew;
    EXPECT_LT(chi_square(2, skew), 16) << "skew " << skew;
  }
}

TEST(Zipf, OfOneRankAreThatRank) {
  Random random(1);
  const Zipf zipf(1, 0.99);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(zipf(random), 0u);
}

// The chance of rank 0 among 10^12 with skew 0.99 is 1 in 32.4; of the first half of all ranks it is 0.972.
TEST(Zipf, OfManyRanksCostNoTableAndKeepTheirFrequencies) {
  constexpr uint64_t kRanks = 1'000'000'000'000;
  const double harmonic = 0.577 + (std::pow(1e12, 0.01) - 1) / 0.01;
  Random random(3);
  const Zipf zipf(kRanks, 0.99);
  int first = 0;
  int lower_half = 0;
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t rank = zipf(random);
    first += rank == 0 ? 1 : 0;
    lower_half += rank < kRanks / 2 ? 1 : 0;
  }
  EXPECT_NEAR(first, kDraws / harmonic, 400);
  EXPECT_NEAR(lower_half / static_cast<double>(kDraws), 0.972, 0.005);
}

}  // namespace
}  // namespace cellar::testing
