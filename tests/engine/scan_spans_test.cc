// Goal: a scan gives the same rows however they are asked for: one by one, in batches, or backward. Cells are
// read in spans, and rows are read ahead.
// Method: tables of short and long rows in small blocks, in each encoding, compacted or in several files with
// cells in memory. A scan of single rows is compared with all other ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class ScanSpans : public EngineFixture {
 protected:
  // 500 rows: most have one or two cells, every 50th has 100.
  void fill(const std::string& encoding, bool in_one_file) {
    if (engine_ == nullptr) open();
    FamilyOptions options = family("f", 1);
    options.encoding = encoding;
    options.block_bytes = 1024;
    table_ = make_table(encoding + (in_one_file ? "1" : "3"), {options});
    for (int part = 0; part < 3; ++part) {
      for (int i = part; i < 500; i += part + 1) {
        Put put("row" + std::to_string(1000 + i));
        const int cells = i % 50 == 7 ? 100 : 1 + i % 2;
        for (int q = 0; q < cells; ++q) put.add("f", "q" + std::to_string(q + part), std::to_string(part));
        EXPECT_OK(table_->put(put));
      }
      if (part < 2 || in_one_file) EXPECT_OK(table_->flush());
    }
    if (in_one_file) EXPECT_OK(table_->major_compact());
  }

  Texts one_by_one(const Scan& scan) {
    ReadStats stats;  // a scan that counts reads no row ahead
    const auto scanner = table_->scan(Scan(scan).stats(&stats)).value();
    Texts texts;
    while (scanner->next()) texts.push_back(to_text(scanner->row()));
    EXPECT_OK(scanner->status());
    return texts;
  }
  // Alternates between `rows` rows one by one and a batch of as many.
  Texts mixed(const Scan& scan, size_t rows) {
    const auto scanner = table_->scan(scan).value();
    Texts texts;
    RowBatch batch;
    do {
      for (size_t i = 0; i < rows && scanner->next(); ++i) texts.push_back(to_text(scanner->row()));
      scanner->next_batch(batch, rows);
      for (const RowView row : batch) texts.push_back(to_text(row));
    } while (!batch.empty());
    EXPECT_OK(scanner->status());
    return texts;
  }
  void expect_same(const Scan& scan) {
    const Texts expected = one_by_one(scan);
    for (const size_t rows : {1u, 2u, 3u, 7u, 40u, 1000u}) EXPECT_EQ(mixed(scan, rows), expected) << rows;
  }

  std::shared_ptr<Table> table_;
};

TEST_F(ScanSpans, AllWaysGiveTheSameRows) {
  for (const std::string encoding : {"none", "row_index_v1", "prefix", "diff", "fast_diff"}) {
    for (const bool in_one_file : {true, false}) {
      SCOPED_TRACE(encoding + (in_one_file ? ", one file" : ", files and memory"));
      fill(encoding, in_one_file);
      const Texts all = one_by_one(Scan());
      EXPECT_EQ(all.size(), 500u);
      expect_same(Scan());
      Texts backward = one_by_one(Scan().reversed(true));
      expect_same(Scan().reversed(true));
      std::ranges::reverse(backward);
      EXPECT_EQ(backward, all);
      for (const uint64_t limit : {1u, 5u, 16u, 17u, 100u}) {
        const Scan from = Scan().start("row1200").limit(limit);
        EXPECT_EQ(one_by_one(from).size(), limit);
        expect_same(from);
        expect_same(Scan(from).reversed(true));
      }
      expect_same(Scan().start("row1050", false).stop("row1300", true));
    }
  }
}

TEST_F(ScanSpans, RowsBeforeAFaultAreReturned) {
  open({.row_bytes_max = 1000});
  table_ = make_table("t", {family("f", 1)});
  for (const char* row : {"a", "b", "c"}) EXPECT_OK(table_->put(Put(row).add("f", "q", "v")));
  Put large("d");
  for (int q = 0; q < 20; ++q) large.add("f", std::to_string(q), std::string(100, 'v'));
  EXPECT_OK(table_->put(large));
  const auto scanner = table_->scan(Scan()).value();
  for (const char* row : {"a", "b", "c"}) {
    ASSERT_TRUE(scanner->next());
    EXPECT_EQ(scanner->row().row(), row);
    EXPECT_OK(scanner->status());
  }
  EXPECT_FALSE(scanner->next());
  EXPECT_TRUE(scanner->status().is(Code::kLimit));
  EXPECT_FALSE(scanner->next());
}

}  // namespace
}  // namespace cellar::testing
