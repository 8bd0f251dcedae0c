// Goal: estimates bracket the truth and splits cut evenly. Method: random tables over many files and memory,
// random ranges, held against a whole scan.
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "cellar/hfile_builder.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class EstimateTest : public EngineFixture {
 protected:
  static std::string row_of(uint64_t number) {
    std::string digits = std::to_string(number);
    return "row" + std::string(6 - digits.size(), '0') + digits;
  }

  void make(const std::string& bloom) {
    EngineOptions options;
    options.memtable_bytes = 64 << 20;
    options.files_slow = options.files_stop = 1000;  // nothing is compacted
    open(options);
    FamilyOptions small = family("d", 100);
    small.block_bytes = 1024;
    small.bloom = bloom;
    small.compaction = "none";
    FamilyOptions other = small;
    other.name = "e";
    table_ = make_table("t", {small, other});
  }

  // `rounds` files of rows drawn from [0, space), of one cell or more, with a little left in memory.
  void fill(uint64_t seed, int rounds, uint64_t space, int rows_each) {
    Random random(seed);
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < rows_each; ++i) {
        clock_.advance_ms(1);
        Put put(row_of(random.below(space)));
        for (uint64_t cell = 0; cell <= random.below(3); ++cell)
          put.add(random.one_in(4) ? "e" : "d", "q" + std::to_string(cell), std::string(20, 'v'));
        EXPECT_OK(table_->put(put));
      }
      if (round + 1 < rounds) EXPECT_OK(table_->flush());
    }
  }

  // Stored cells by row.
  std::map<std::string, uint64_t> truth() {
    std::map<std::string, uint64_t> cells;
    auto scanner = table_->scan(Scan().raw(true).all_versions()).value();
    for (const RowView row : *scanner) cells[std::string(row.row())] += row.cells().size();
    return cells;
  }

  std::shared_ptr<Table> table_;
};

std::pair<uint64_t, uint64_t> count_in(const std::map<std::string, uint64_t>& truth,
                                       const KeyRange& request) {
  uint64_t rows = 0, cells = 0;
  for (const auto& [row, count] : truth) {
    if (row < request.start || (!request.stop.empty() && row >= request.stop)) continue;
    ++rows;
    cells += count;
  }
  return {rows, cells};
}

void expect_bracketed(const EstimatedFigure& figure, uint64_t truth, const char* what) {
  EXPECT_LE(figure.low, truth) << what;
  EXPECT_GE(figure.high, truth) << what;
  EXPECT_LE(figure.low, figure.estimate) << what;
  EXPECT_LE(figure.estimate, figure.high) << what;
}

void expect_bracketed(const RangeEstimate& estimate, uint64_t rows, uint64_t cells) {
  expect_bracketed(estimate.cells, cells, "cells");
  expect_bracketed(estimate.rows, rows, "rows");
}

TEST_F(EstimateTest, TheWholeTableIsKnownExactlyButForRowsThatSeveralFilesHold) {
  make("row");
  fill(1, 1, 100'000, 3000);
  EXPECT_OK(table_->flush());
  const auto stored = truth();
  const auto [rows, cells] = count_in(stored, {});
  const RangeEstimate estimate = table_->estimate().value();
  EXPECT_EQ(estimate.cells.low, cells);
  EXPECT_EQ(estimate.cells.high, cells);
  EXPECT_EQ(estimate.bytes.low, estimate.bytes.high);
  EXPECT_LE(estimate.rows.low, rows);
  EXPECT_GE(estimate.rows.high, rows);
  const RangeEstimate one = table_->estimate({}, {"d"}).value();
  EXPECT_EQ(one.rows.low, one.rows.high) << "one file, whose filter knows its rows";
  EXPECT_LT(one.bytes.high, estimate.bytes.low);
}

TEST_F(EstimateTest, RangesAreBracketed) {
  uint64_t checked = 0;
  double width = 0;
  for (const char* bloom : {"row", "none", "rowcol"}) {
    make(bloom);
    fill(7, 6, 20'000, 2000);
    const auto stored = truth();
    const uint64_t total = count_in(stored, {}).second;
    Random random(99);
    for (uint64_t i = 0; i < scaled(80); ++i) {
      uint64_t from = random.below(20'000), to = random.below(20'000);
      if (from > to) std::swap(from, to);
      KeyRange request{.start = row_of(from), .stop = row_of(to)};
      const auto [rows, cells] = count_in(stored, request);
      const RangeEstimate estimate = table_->estimate(request).value();
      ASSERT_LE(estimate.bytes.low, estimate.bytes.estimate);
      ASSERT_LE(estimate.bytes.estimate, estimate.bytes.high);
      // Two parts of it hold together what it holds.
      const KeyRange left{.start = request.start, .stop = row_of((from + to) / 2)};
      const KeyRange right{.start = left.stop, .stop = request.stop};
      const RangeEstimate a = table_->estimate(left).value(), b = table_->estimate(right).value();
      ASSERT_LE(a.bytes.low + b.bytes.low, estimate.bytes.high);
      ASSERT_GE(a.bytes.high + b.bytes.high, estimate.bytes.low);
      expect_bracketed(estimate, rows, cells);
      width += static_cast<double>(estimate.cells.high - estimate.cells.low) / static_cast<double>(total);
      ++checked;
    }
  }
  count(checked, "ranges estimated");
  EXPECT_LT(width / static_cast<double>(checked), 0.1)
      << "low and high lie far apart, as shares of the table";
}

// Some rows have a few bytes, others have many. Bytes then say nothing about the number of rows.
TEST_F(EstimateTest, RowsOfDifferentSizesAreBracketedToo) {
  make("none");
  for (int i = 0; i < 20'000; ++i) EXPECT_OK(table_->put(Put("a" + row_of(i)).add("d", "q", "v")));
  const std::string large(20'000, 'v');
  for (int i = 0; i < 400; ++i) EXPECT_OK(table_->put(Put("b" + row_of(i)).add("d", "q", large)));
  EXPECT_OK(table_->flush());
  const auto stored = truth();
  const KeyRange ranges[] = {{"", "b"},
                             {"b", ""},
                             {.start = "a" + row_of(5'000), .stop = "a" + row_of(15'000)},
                             {.start = "a" + row_of(19'000), .stop = "b" + row_of(200)},
                             {"", "a"}};
  for (const KeyRange& range : ranges) {
    SCOPED_TRACE(range.start + " to " + range.stop);
    const auto [rows, cells] = count_in(stored, range);
    const RangeEstimate estimate = table_->estimate(range).value();
    expect_bracketed(estimate, rows, cells);
    EXPECT_LE(estimate.rows.high - estimate.rows.low, 1'300u) << "four parts of 64";
  }
}

// A file that somebody else wrote does not know where its cells lie.
TEST_F(EstimateTest, FilesOfOthersAreBracketedWidely) {
  int64_t timestamp = 0;
  for (const char* bloom : {"row", "none"}) {
    ++timestamp;
    make(bloom);
    HFileBuilderOptions options;
    options.block_bytes = 1024;
    options.bloom = bloom;
    HFileBuilder builder = HFileBuilder::create(*files_, "foreign." + std::string(bloom), options).value();
    for (uint64_t i = 0; i < 3'000; ++i) {
      const std::string value(i < 1'500 ? 1 : 200, 'v');
      for (const char* qualifier : {"q", "r"})
        EXPECT_OK(builder.add(Cell(row_of(i), "d", qualifier, timestamp, CellType::kPut, value)));
    }
    ASSERT_TRUE(builder.finish().ok());
    IngestRequest request;
    request.files.push_back({"d", "foreign." + std::string(bloom)});
    ASSERT_TRUE(table_->ingest(request).ok());
    const auto stored = truth();  // of the files before, too
    for (const uint64_t at : {0u, 700u, 1'500u, 2'900u}) {
      const KeyRange range{.start = at == 0 ? "" : row_of(at), .stop = at == 0 ? "" : row_of(at + 90)};
      const auto [rows, cells] = count_in(stored, range);
      const RangeEstimate estimate = table_->estimate(range).value();
      expect_bracketed(estimate, rows, cells);
      EXPECT_EQ(estimate.cells.low == estimate.cells.high, at == 0);
    }
  }
}

TEST_F(EstimateTest, SplitsAreEven) {
  for (const bool in_memory : {false, true}) {
    make("row");
    fill(3, in_memory ? 1 : 4, 50'000, in_memory ? 5000 : 4000);
    if (!in_memory) EXPECT_OK(table_->flush());
    const auto stored = truth();
    for (const size_t parts : {1u, 2u, 7u, 20u}) {
      const RangeSplits splits = table_->split_points(parts).value();
      ASSERT_EQ(splits.rows.size(), parts - 1);
      ASSERT_TRUE(std::ranges::is_sorted(splits.rows));
      uint64_t total = 0;
      for (const auto& [row, cells] : stored) total += cells;
      std::vector<std::string> bounds = splits.rows;
      bounds.insert(bounds.begin(), "");
      bounds.emplace_back("");
      for (size_t i = 0; i + 1 < bounds.size(); ++i) {
        const uint64_t cells = count_in(stored, {.start = bounds[i], .stop = bounds[i + 1]}).second;
        const double share =
            static_cast<double>(cells) * static_cast<double>(parts) / static_cast<double>(total);
        EXPECT_GT(share, 0.7) << i << " of " << parts;
        EXPECT_LT(share, 1.3) << i << " of " << parts;
      }
      EXPECT_GE(splits.largest_part * parts, splits.bytes);
    }
  }
}

TEST_F(EstimateTest, SmallAndStrangeRequests) {
  make("row");
  RangeEstimate estimate = table_->estimate().value();
  EXPECT_EQ(estimate.bytes.high + estimate.cells.high + estimate.rows.high + estimate.files, 0u);
  EXPECT_TRUE(table_->split_points(5)->rows.empty());
  EXPECT_OK(table_->put(std::move(Put("m").add("d", "q", "v"))));
  EXPECT_OK(table_->flush());
  EXPECT_TRUE(table_->split_points(5)->rows.empty()) << "one row cannot be cut";
  estimate = table_->estimate(KeyRange{"n", ""}).value();
  EXPECT_EQ(estimate.cells.high, 0u);
  estimate = table_->estimate({.start = "a", .stop = "m"}).value();
  EXPECT_EQ(estimate.cells.low, 0u);
  EXPECT_TRUE(table_->estimate({.start = "b", .stop = "a"}).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(table_->estimate({}, {"x"}).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(table_->split_points(0).status().is(Code::kInvalidArgument));
}

}  // namespace
}  // namespace cellar::testing
