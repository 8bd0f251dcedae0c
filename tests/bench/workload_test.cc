// Goal: the workloads of the benchmarks choose rows, operations and values as they say. Method: frequencies
// are compared with the probabilities of each law by chi-square tests, for few and for many rows.
#include "bench/workload/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/workload/data.h"
#include "bench/workload/key_chooser.h"

namespace cellar::bench {
namespace {

std::vector<double> zipf_law(uint64_t count, double theta) {
  std::vector<double> law(count);
  double sum = 0;
  for (uint64_t i = 0; i < count; ++i) sum += law[i] = std::pow(static_cast<double>(i + 1), -theta);
  for (double& each : law) each /= sum;
  return law;
}

// Chi-square of the counts is at most five deviations above its mean. Cells that expect fewer than five draws
// are put together.
void expect_law(const std::vector<uint64_t>& counts, const std::vector<double>& law,
                const std::string& what) {
  double total = 0, chi = 0, expected = 0, found = 0;
  for (const uint64_t count : counts) total += static_cast<double>(count);
  uint64_t cells = 0;
  for (size_t i = 0; i < law.size(); ++i) {
    expected += law[i] * total;
    found += static_cast<double>(counts[i]);
    if (expected < 5 && i + 1 < law.size()) continue;
    chi += expected > 0 ? (found - expected) * (found - expected) / expected : 0;
    expected = found = 0;
    ++cells;
  }
  const double freedom = std::max<double>(static_cast<double>(cells) - 1, 1);
  EXPECT_LT(chi, freedom + 5 * std::sqrt(2 * freedom)) << what << ": " << cells << " cells";
}

template <class Draw>
std::vector<uint64_t> drawn(uint64_t count, uint64_t draws, Draw&& draw) {
  std::vector<uint64_t> counts(count);
  for (uint64_t i = 0; i < draws; ++i) ++counts.at(draw());
  return counts;
}

TEST(Workload, ZipfIsExact) {
  for (const uint64_t count : {1u, 2u, 3u, 10u, 1000u}) {
    for (const double theta : {0.2, 0.99, 1.0, 1.5, 4.0}) {
      const Zipf zipf(count, theta);
      Random random(5 + count);
      expect_law(drawn(count, 300000, [&] { return zipf(random); }), zipf_law(count, theta),
                 std::to_string(count) + " ranks, theta " + std::to_string(theta));
    }
  }
}

// A generator with the normalization of another number of rows fails here: the first rank of 10^10 rows has
// half of this probability.
TEST(Workload, ZipfOfManyRowsHasTheirNormalization) {
  constexpr uint64_t kRows = 1000000;
  const Zipf zipf(kRows, 0.99);
  Random random(7);
  expect_law(drawn(kRows, 2000000, [&] { return zipf(random); }), zipf_law(kRows, 0.99), "a million ranks");
}

TEST(Workload, ZipfIsScatteredOverAllRows) {
  constexpr uint64_t kRows = 500;
  KeyChooser chooser({.kind = SkewKind::kZipf}, kRows);
  Random random(11);
  std::vector<uint64_t> counts = drawn(kRows, 500000, [&] { return chooser.next(random, kRows); });
  const auto hottest = std::ranges::max_element(counts) - counts.begin();
  EXPECT_NE(hottest, 0);
  std::vector<uint64_t> by_rank(kRows);
  const Permutation scatter(kRows, 99);
  for (uint64_t rank = 0; rank < kRows; ++rank) by_rank[rank] = counts[scatter(rank)];
  expect_law(by_rank, zipf_law(kRows, 0.99), "scattered");
}

TEST(Workload, UniformMeansAllRowsAlike) {
  KeyChooser chooser({.kind = SkewKind::kUniform}, 100);
  Random random(13);
  // Rows that were inserted are chosen, too.
  expect_law(drawn(300, 300000, [&] { return chooser.next(random, 300); }),
             std::vector<double>(300, 1.0 / 300), "uniform");
}

TEST(Workload, LatestPrefersTheNewestRowAsRowsAreAdded) {
  KeyChooser chooser({.kind = SkewKind::kLatest}, 100);
  Random random(17);
  for (const uint64_t rows : {100u, 101u, 400u}) {
    std::vector<uint64_t> counts = drawn(rows, 300000, [&] { return chooser.next(random, rows); });
    std::ranges::reverse(counts);
    expect_law(counts, zipf_law(rows, 0.99), std::to_string(rows) + " rows");
  }
}

TEST(Workload, SkewsAreRead) {
  for (const char* text : {"uniform", "zipf:0.99", "zipf:1.2", "latest:0.99", "latest:0.5"}) {
    const Result<Skew> skew = parse_skew(text);
    ASSERT_TRUE(skew.ok()) << skew.status();
    EXPECT_EQ(to_text(*skew), text);
  }
  EXPECT_EQ(parse_skew("zipf").value(), Skew{});
  EXPECT_EQ(parse_skew("latest").value(), (Skew{.kind = SkewKind::kLatest}));
  for (const char* text :
       {"", "zip", "zipf:", "zipf:0", "zipf:-1", "zipf:11", "zipf:1x", "zipf:nan", "uniform:1"}) {
    const Status status = parse_skew(text).status();
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << text;
    EXPECT_NE(status.to_text().find("zipf:0.99"), std::string::npos) << status;
  }
}

TEST(Workload, MixesAreReadAndDrawn) {
  const Mix mix = Mix::parse("read=40,scan=10,update=20,rmw=5,insert=15,delete=10").value();
  EXPECT_EQ(mix.to_text(), "read=40,update=20,rmw=5,insert=15,scan=10,delete=10");
  Random random(19);
  expect_law(drawn(kOperations, 200000, [&] { return static_cast<uint64_t>(mix.draw(random)); }),
             {0.4, 0.2, 0.05, 0.15, 0.1, 0.1}, "mix");
  const Mix reads = Mix::parse("read=100,update=0").value();
  EXPECT_EQ(reads.to_text(), "read=100");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(reads.draw(random), Operation::kRead);
  const std::map<std::string, std::string> faults = {{"", "the sum is 0"},
                                                     {"read=50", "the sum is 50"},
                                                     {"read=50,update=51", "the sum is 101"},
                                                     {"read=50,read=50", "read occurs twice"},
                                                     {"reads=100", "unknown operation \"reads\""},
                                                     {"read", "\"read\" has no ="},
                                                     {"read=-1", "no whole number"},
                                                     {"read=1e2", "no whole number"}};
  for (const auto& [text, fault] : faults) {
    const Status status = Mix::parse(text).status();
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << text;
    EXPECT_NE(status.message().find(fault), std::string::npos) << status;
  }
}

TEST(Workload, LengthsAreReadAndDrawn) {
  EXPECT_EQ(Lengths::parse("100", 1000, "--x").value(), (Lengths{100, 100}));
  EXPECT_EQ(Lengths::parse("fixed:7", 1000, "--x").value().to_text(), "fixed:7");
  const Lengths lengths = Lengths::parse("uniform:5-14", 1000, "--x").value();
  EXPECT_EQ(lengths.to_text(), "uniform:5-14");
  uint64_t i = 0;
  const auto counts = drawn(15, 100000, [&] { return lengths.of(mix(++i)); });
  expect_law({counts.begin() + 5, counts.end()}, std::vector<double>(10, 0.1), "lengths");
  for (const char* text :
       {"", "0", "fixed:", "fixed:0", "1001", "uniform:5", "uniform:6-5", "uniform:0-5", "5-6", "-3"}) {
    const Status status = Lengths::parse(text, 1000, "--x").status();
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << text;
    EXPECT_NE(status.message().find("--x"), std::string_view::npos) << status;
  }
}

TEST(Workload, ValuesOfAnyLengthDiffer) {
  for (const size_t bytes : {1u, 7u, 8u, 15u, 16u, 31u, 100u, 5000u}) {
    std::string one(bytes, '\0'), two(bytes, '\0');
    fill_value({one.data(), bytes}, mix(1));
    fill_value({two.data(), bytes}, mix(2));
    EXPECT_NE(one, two) << bytes;
    fill_value({two.data(), bytes}, mix(1));
    EXPECT_EQ(one, two) << bytes;
    if (bytes < 16) continue;
    std::string shorter(bytes - 1, '\0');
    fill_value({shorter.data(), shorter.size()}, mix(1));
    EXPECT_NE(shorter.substr(shorter.size() - 8), one.substr(bytes - 8));
  }
}

TEST(Workload, KnownWorkloadsAreYcsbsAndOurs) {
  std::set<std::string> names;
  for (const Workload& each : known_workloads()) EXPECT_TRUE(names.insert(each.name).second) << each.name;
  EXPECT_EQ(names.size(), 11u);
  EXPECT_EQ(find_workload("ycsb_a").value().mix.to_text(), "read=50,update=50");
  EXPECT_EQ(find_workload("ycsb_b").value().mix.to_text(), "read=95,update=5");
  EXPECT_EQ(find_workload("ycsb_c").value().mix.to_text(), "read=100");
  EXPECT_EQ(find_workload("ycsb_d").value().mix.to_text(), "read=95,insert=5");
  EXPECT_EQ(to_text(find_workload("ycsb_d").value().skew), "latest:0.99");
  EXPECT_EQ(find_workload("ycsb_e").value().mix.to_text(), "insert=5,scan=95");
  EXPECT_EQ(find_workload("ycsb_f").value().mix.to_text(), "read=50,rmw=50");
  const Status unknown = find_workload("ycsb_g").status();
  EXPECT_TRUE(unknown.is(Code::kNotFound));
  EXPECT_NE(unknown.hint().find("ycsb_"), std::string_view::npos) << unknown;
}

TEST(Workload, ChangesReplaceOnlyWhatIsSet) {
  const Workload base = find_workload("ycsb_e").value();
  WorkloadChanges changes;
  EXPECT_FALSE(changes.any());
  EXPECT_EQ(changes.apply(base).to_text(), base.to_text());
  changes.threads = 3;
  changes.scan_length = Lengths{5, 5};
  changes.ops = 100;
  EXPECT_TRUE(changes.any());
  const Workload changed = changes.apply(base);
  EXPECT_EQ(changed.to_text(),
            "mix=insert=5,scan=95 skew=zipf:0.99 value_bytes=fixed:100 scan_length=fixed:5 threads=3 seed=1");
  EXPECT_EQ(changed.total_ops(1000), 99u);  // the same for each thread
}

}  // namespace
}  // namespace cellar::bench
