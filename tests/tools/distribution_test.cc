// Goal: a distribution never says a figure that was not counted. Method: the same values sorted in a list;
// with few and with many different ones.
#include "tools/frame/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace cellar::testing {
namespace {

int64_t ranked(std::vector<int64_t> values, double percent) {
  std::ranges::sort(values);
  const auto rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
  return values[std::max<size_t>(rank, 1) - 1];
}

constexpr double kPercents[] = {0.1, 10, 50, 90, 99, 99.9, 100};

TEST(Distribution, FewValuesAreExact) {
  Random random(7);
  Distribution distribution(Coarsening::kRelative, 1000);
  std::vector<int64_t> values;
  for (int i = 0; i < 5000; ++i) {
    values.push_back(static_cast<int64_t>(random.next() % 1000));
    distribution.add(values.back());
  }
  EXPECT_TRUE(distribution.exact());
  for (const double percent : kPercents) {
    const auto bucket = percentile(distribution.buckets(), percent);
    ASSERT_TRUE(bucket);
    EXPECT_EQ(bucket->low, bucket->high);
    EXPECT_EQ(bucket->high, ranked(values, percent)) << percent;
  }
}

TEST(Distribution, ManyValuesAreBounded) {
  for (const Coarsening coarsening : {Coarsening::kRelative, Coarsening::kAbsolute}) {
    for (const size_t values_max : {4u, 100u, 3000u}) {
      Random random(11);
      Distribution distribution(coarsening, values_max);
      std::vector<int64_t> values;
      for (int i = 0; i < 20000; ++i) {
        values.push_back(static_cast<int64_t>(random.next() >> (random.next() % 40 + 24)));
        distribution.add(values.back());
      }
      EXPECT_FALSE(distribution.exact());
      EXPECT_EQ(distribution.count(), values.size());
      EXPECT_EQ(distribution.min(), *std::ranges::min_element(values));
      EXPECT_EQ(distribution.max(), *std::ranges::max_element(values));
      const std::vector<ValueBucket> buckets = distribution.buckets();
      EXPECT_LE(buckets.size(), std::max<size_t>(values_max, 64));
      for (const ValueBucket& bucket : buckets) {
        EXPECT_EQ(bucket.count,
                  static_cast<uint64_t>(std::ranges::count_if(
                      values, [&](int64_t value) { return bucket.low <= value && value <= bucket.high; })))
            << bucket.low;
      }
      for (const double percent : kPercents) {
        const auto bucket = percentile(buckets, percent);
        ASSERT_TRUE(bucket);
        EXPECT_LE(bucket->low, ranked(values, percent)) << percent;
        EXPECT_GE(bucket->high, ranked(values, percent)) << percent;
      }
    }
  }
}

TEST(Distribution, SizesKeepTheirLeadingBits) {
  Distribution distribution(Coarsening::kRelative, 20000);
  for (int64_t value = 0; value < 1000000; ++value) distribution.add(value);
  const auto bucket = percentile(distribution.buckets(), 50);
  ASSERT_TRUE(bucket);
  EXPECT_LE(static_cast<double>(bucket->high - bucket->low), static_cast<double>(bucket->high) / 255);
  EXPECT_EQ(percentile(distribution.buckets(), 0.01)->high, 99) << "small ones stay exact";
}

TEST(Distribution, AgesAreTimesFromTheOtherEnd) {
  const std::vector<ValueBucket> times = {{10, 10, 1}, {20, 27, 3}};
  EXPECT_EQ(ages_of(times, 30), (std::vector<ValueBucket>{{3, 10, 3}, {20, 20, 1}}));
}

TEST(Distribution, BarsDouble) {
  const std::vector<ValueBucket> values = {{-5, -5, 1}, {0, 0, 2}, {1, 1, 3}, {4, 4, 4}, {7, 7, 5}};
  EXPECT_EQ(doubling_bars(values),
            (std::vector<ValueBucket>{{INT64_MIN, -1, 1}, {0, 0, 2}, {1, 1, 3}, {2, 3, 0}, {4, 7, 9}}));
  EXPECT_TRUE(doubling_bars({}).empty());
  EXPECT_FALSE(percentile({}, 50));
}

}  // namespace
}  // namespace cellar::testing
