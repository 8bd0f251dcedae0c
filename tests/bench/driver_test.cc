// Goal: what the driver measures with and compares by is right: data, orders, histograms, agreement.
// Method: each part against its definition on small sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "bench/driver/flat_key.h"
#include "bench/driver/groups.h"
#include "bench/driver/report.h"
#include "bench/workload/data.h"
#include "bench/workload/histogram.h"

namespace cellar::bench {
namespace {

TEST(Driver, APermutationMeetsEachIndexOnce) {
  for (const uint64_t count : {1u, 2u, 7u, 1000u, 4096u}) {
    const Permutation shuffled(count, 3);
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < count; ++i) seen.insert(shuffled(i));
    EXPECT_EQ(seen.size(), count);
    EXPECT_LT(*seen.rbegin(), count);
  }
}

TEST(Driver, RowsAreInOrderOfTheirNumbers) {
  EXPECT_EQ(RowKey().present(21).view(), "user000000000042");
  EXPECT_EQ(RowKey().missing(21).view(), "user000000000043");
}

TEST(Driver, ValuesDependOnRowAndVersion) {
  ValueMaker values;
  const std::string first(values.of(1, 0));
  EXPECT_EQ(first.size(), ValueMaker::kBytes);
  EXPECT_EQ(values.of(1, 0), first);
  EXPECT_NE(values.of(1, 1), first);
  EXPECT_NE(values.of(2, 0), first);
  int passed = 0;
  for (uint64_t row = 0; row < 10000; ++row) passed += one_percent("", values.of(row, 0)) ? 1 : 0;
  EXPECT_NEAR(passed, 100, 40);
}

TEST(Driver, HistogramsAreOffByThreePercentAtMost) {
  Histogram times;
  for (uint64_t i = 1; i <= 100000; ++i) times.add(i);
  for (const double fraction : {0.5, 0.9, 0.99, 0.999})
    EXPECT_NEAR(times.quantile(fraction), fraction * 100000, fraction * 100000 * 0.032);
  EXPECT_EQ(times.max(), 100000u);
  Histogram small;
  small.add(7);
  EXPECT_EQ(small.quantile(0.5), 7);
  small += times;
  EXPECT_EQ(small.total(), 100001u);
  small.add(UINT64_MAX);
  EXPECT_EQ(small.max(), UINT64_MAX);
}

TEST(Driver, FlatKeysAreInTheOrderOfTheirCells) {
  const auto key = [](std::string_view row, std::string_view qualifier, int64_t timestamp, uint8_t type) {
    std::string bytes;
    append_part(bytes, row);
    append_part(bytes, qualifier);
    append_version(bytes, timestamp, type);
    return bytes;
  };
  using namespace std::string_view_literals;
  const std::vector<std::string> ordered = {
      key("a", "", 9, kDeleteFamilyType),  key("a", "q", 9, kPutType),
      key("a", "q", 8, kDeleteFamilyType), key("a", "q", 8, kPutType),
      key("a", "q\0"sv, 9, kPutType),      key("a", "q\xff", 9, kPutType),
      key("a\0"sv, "q", 9, kPutType),      key("a\0b"sv, "q", 9, kPutType),
      key("a\xff", "q", 9, kPutType)};
  EXPECT_TRUE(std::ranges::is_sorted(ordered));
  const FlatKey parts = parse_versioned(ordered[7]);
  std::string room;
  EXPECT_EQ(plain_part(parts.row, room), "a\0b"sv);
  EXPECT_EQ(plain_part(parts.qualifier(), room), "q");
  EXPECT_EQ(parts.timestamp, 9);
  EXPECT_EQ(parts.type, kPutType);
}

TEST(Driver, DifferentAnswersAreNoticed) {
  const auto result = [](const char* peer, uint64_t sum) {
    Sample sample;
    sample.ops = 10;
    sample.times.add(1000);
    sample.tally.sum = sum;
    return parse_result(result_line({peer, "1", "", "get", "ops/s", 0}, sample, 0, 0, 0));
  };
  EXPECT_EQ(disagreements({result("one", 5), result("two", 5)}), std::vector<std::string>{});
  const std::vector<std::string> sentences = disagreements({result("one", 5), result("two", 6)});
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_NE(sentences[0].find("get: one in round 0"), std::string::npos) << sentences[0];
}

TEST(Driver, WorkloadsHaveOneHome) {
  std::set<std::string> names;
  for (const Group& group : groups()) {
    for (const std::string& workload : group.workloads)
      EXPECT_TRUE(names.insert(workload).second) << workload;
  }
}

}  // namespace
}  // namespace cellar::bench
