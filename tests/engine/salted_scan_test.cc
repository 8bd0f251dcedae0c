// Goal: a scan over all salts gives what a scan of the same rows without salts gives.
// Method: two tables with the same keys, one salted; random bounds, prefixes, directions, limits and parts,
// and filters of every kind.
#include "cellar/salted_scan.h"

#include <set>
#include <thread>

#include "base/random.h"
#include "cellar/keys.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class SaltedScanTest : public EngineFixture {
 protected:
  SaltedScanTest() {
    open();
    plain_ = make_table("plain", {family("d")});
    salted_ = make_table("salted", {family("d")});
  }

  void put(const std::string& key) {
    for (const char* qualifier : {"a", "b", "c"}) {
      ASSERT_TRUE(plain_->put(Put(key).add("d", qualifier, key)).ok());
      ASSERT_TRUE(salted_->put(Put(salted(key, kSalts)).add("d", qualifier, key)).ok());
    }
  }

  static std::string part(std::string_view key, const RowView& row) {
    return std::string(key) + ":" + std::to_string(row.cells().size()) + (row.more_cells_in_row() ? "+" : "");
  }
  Texts plain_rows(const Scan& scan) {
    Texts rows;
    const auto scanner = plain_->scan(scan).value();
    while (scanner->next()) rows.push_back(part(scanner->row().row(), scanner->row()));
    return rows;
  }
  Texts salted_rows(const Scan& scan) {
    Texts rows;
    const auto merged = scan_salted(*salted_, scan, kSalts).value();
    for (const RowView row : *merged) rows.push_back(part(unsalted(row.row()), row));
    EXPECT_TRUE(merged->status().ok()) << merged->status().to_text();
    EXPECT_FALSE(merged->next());
    return rows;
  }
  // The same in batches, which are looked at when the scanner has moved on and is gone.
  Texts batched_rows(const Scan& scan, size_t size) {
    std::vector<RowBatch> batches(1);
    const auto read = [&] {
      const auto merged = scan_salted(*salted_, scan, kSalts).value();
      while (merged->next_batch(batches.back(), size)) {
        EXPECT_LE(batches.back().size(), size);
        batches.emplace_back();
      }
      EXPECT_TRUE(merged->status().ok()) << merged->status().to_text();
    };
    read();
    Texts rows;
    for (const RowBatch& batch : batches)
      for (const RowView row : batch) {
        rows.push_back(part(unsalted(row.row()), row));
        for (const CellView& cell : row) EXPECT_EQ(cell.value_bytes(), unsalted(row.row()));
      }
    return rows;
  }

  static constexpr uint32_t kSalts = 7;
  std::shared_ptr<Table> plain_;
  std::shared_ptr<Table> salted_;
};

TEST_F(SaltedScanTest, IsTheScanWithoutSalts) {
  Random random(11);
  const auto draw = [&] {
    std::string key(1 + random.below(3), '\0');
    for (char& c : key) c = "ab\xff"[random.below(3)];
    return key;
  };
  for (int i = 0; i < 60; ++i) {
    put(draw());
    if (i == 30) {
      ASSERT_TRUE(engine_->flush().ok());
    }
  }
  for (int i = 0; i < 500; ++i) {
    Scan scan;
    const auto inclusive = [&] { return random.one_in(2); };
    if (random.one_in(4)) {
      scan.prefix(draw());
    } else {
      if (random.one_in(2)) scan.start(draw(), inclusive());
      if (random.one_in(2)) scan.stop(draw(), inclusive());
    }
    scan.reversed(random.one_in(2)).limit(random.below(3) * 5).batch(static_cast<uint32_t>(random.below(3)));
    EXPECT_EQ(salted_rows(scan), plain_rows(scan)) << "scan " << i;
    EXPECT_EQ(batched_rows(scan, 1 + random.below(4)), plain_rows(scan)) << "scan " << i;
  }
}

// Adds its row to every value, and a cell to every row.
class NamesItsRow final : public Filter {
 public:
  std::unique_ptr<Filter> clone() const override { return std::make_unique<NamesItsRow>(); }
  std::string to_text() const override { return "NamesItsRow()"; }
  FilterCode cell(const CellView& cell) override {
    return cell.key_bytes()[1] == static_cast<char>(cell.row().size()) ? FilterCode::kInclude
                                                                       : FilterCode::kSkip;
  }
  void transform(CellView& cell) override { point(cell, row_of_ = "row " + std::string(cell.row())); }
  bool needs_whole_row() const override { return true; }
  void edit_row(std::vector<CellView>& cells) override {
    edited_ = "edited " + std::string(cells.front().row());
    key_ = cells.back().key_bytes();
    key_[key_.size() - 10] = 'd';
    CellView added = cells.back();
    added.key = key_.data();
    cells.erase(cells.begin());
    point(cells.front(), edited_);
    cells.push_back(added);
  }
  bool depends_on_other_rows() const override { return false; }

 private:
  static void point(CellView& cell, const std::string& value) {
    cell.value = value.data();
    cell.value_size = static_cast<uint32_t>(value.size());
  }
  std::string row_of_;
  std::string edited_;
  std::string key_;
};

class SaltedFilterTest : public SaltedScanTest {
 protected:
  // The rows, with all their cells; the plain table's cells have the salt added.
  static std::string text(std::string_view key, const RowView& row) {
    std::string text(key);
    for (const CellView& cell : row.cells()) {
      EXPECT_EQ(cell.row(), row.row());
      text += " " + std::string(cell.qualifier()) + "=" + std::string(cell.value_bytes());
    }
    return text;
  }
  void expect_same(const FilterPtr& filter, Scan scan) {
    scan.filter(filter);
    Texts expected;
    const auto scanner = plain_->scan(scan).value();
    while (scanner->next()) expected.push_back(text(scanner->row().row(), scanner->row()));
    auto merged = scan_salted(*salted_, scan, kSalts);
    ASSERT_TRUE(merged.ok()) << merged.status().to_text();
    Texts rows;
    for (const RowView row : **merged) rows.push_back(text(unsalted(row.row()), row));
    EXPECT_TRUE((*merged)->status().ok());
    EXPECT_EQ(rows, expected) << filter->to_text() << (scan.reversed() ? ", reversed" : "");
    found_ += rows.size();
  }
  void expect_same_both_ways(const FilterPtr& filter) {
    for (const bool reversed : {false, true}) {
      expect_same(filter, Scan().reversed(reversed));
      expect_same(filter, Scan().reversed(reversed).limit(2));
      expect_same(filter, Scan().reversed(reversed).start(reversed ? "kc" : "ka"));
    }
  }
  size_t found_ = 0;
};

TEST_F(SaltedFilterTest, JudgesRowsWithoutTheirSalt) {
  for (const char* key : {"a", "ka", "kab", "kb", "kc", "kcc", "kd", "l", "zz"}) put(key);
  ASSERT_TRUE(engine_->flush().ok());
  for (const char* key : {"k", "kaz", "m", "z"}) put(key);
  for (const char* text :
       {"PrefixFilter('k')", "InclusiveStopFilter('kc')", "RowFilter(>=, 'binary:kb')",
        "RowFilter(=, 'regexstring:^k.$')", "PrefixFilter('k') AND ColumnRangeFilter('b', true, 'd', false)",
        "PrefixFilter('kc') OR PrefixFilter('z')", "SKIP RowFilter(!=, 'binary:kb')", "KeyOnlyFilter(true)",
        "ValueFilter(=, 'binary:kb')", "SingleColumnValueFilter('d', 'b', >, 'binary:kb')",
        "SingleColumnValueExcludeFilter('d', 'b', <, 'binary:kb')", "FirstKeyOnlyFilter()",
        "DependentColumnFilter('d', 'b', true)", "ColumnPaginationFilter(1, 1)"}) {
    found_ = 0;
    expect_same_both_ways(parse_filter(text).value());
    EXPECT_GT(found_, 0U) << text;
  }
  expect_same_both_ways(fuzzy_row_filter({{"k?", std::string("\0\1", 2)}}).value());
  expect_same_both_ways(
      multi_row_range_filter({{"ka", std::string("kb\0", 3)}, {std::string("kd\0", 3), ""}}).value());
  expect_same_both_ways(std::make_shared<NamesItsRow>());
}

TEST_F(SaltedFilterTest, MustNotNeedAllRows) {
  put("a");
  for (const char* text : {"PageFilter(2)", "PrefixFilter('a') AND PageFilter(2)", "SKIP (PageFilter(2))",
                           "WHILE (PrefixFilter('a'))", "ColumnCountGetFilter(1)"}) {
    const Status status = scan_salted(*salted_, Scan().filter(parse_filter(text).value()), kSalts).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.to_text().find(text), std::string::npos) << status.to_text();
  }
  EXPECT_FALSE(scan_salted(*salted_, Scan().filter(random_row_filter(0.5, 1)), kSalts).ok());
}

// Every write changes the rows of all salts at once: a scan that sees two values has mixed two moments.
TEST_F(SaltedScanTest, SeesOneMoment) {
  const auto write = [&](int value) {
    Batch batch;
    for (uint32_t salt = 0; salt < kSalts; ++salt)
      batch.put(salted_,
                Put(std::string(1, static_cast<char>(salt)) + "k").add("d", "v", std::to_string(value)));
    return engine_->write(batch);
  };
  ASSERT_TRUE(write(0).ok());
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int value = 1; !done.load(); ++value) ASSERT_TRUE(write(value).ok());
  });
  for (int i = 0; i < 300; ++i) {
    std::set<std::string> values;
    const auto merged = scan_salted(*salted_, {}, kSalts).value();
    for (const RowView row : *merged) values.emplace(row.value("d", "v").value());
    EXPECT_EQ(values.size(), 1U);
  }
  done = true;
  writer.join();
}

TEST_F(SaltedScanTest, OfAnEmptyTableAndOfAWrongNumberOfSalts) {
  EXPECT_EQ(salted_rows({}), Texts{});
  EXPECT_EQ(scan_salted(*salted_, {}, 0).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(scan_salted(*salted_, {}, 257).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(scan_salted(*salted_, {}, 256).ok());
}

}  // namespace
}  // namespace cellar::testing
