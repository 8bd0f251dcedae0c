// Goal: reads examine, and read from the disk, no more than they need, and give the same rows for it.
// Method: reads of named columns are compared with whole rows, and rows in one piece with single cells. The
// blocks of uncached scans in both directions are counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class ReadCost : public EngineFixture {
 protected:
  static constexpr int kRows = 300;
  static constexpr int kFirst = 100;  // of the rows that are compared in many ways
  static constexpr int kLast = 140;

  ReadCost() { open(); }
  static std::string row_at(int i) { return "row" + std::to_string(1000 + i); }
  static std::string column_at(int i) { return "q" + std::to_string(100 + i); }

  // Rows of so many columns, with small blocks. In one file, or in three with markers and two versions.
  void fill(const std::string& name, int columns, bool in_one_file, FamilyOptions options) {
    options.block_bytes = 2048;
    table_ = make_table(name, {options});
    for (int file = 0; file < (in_one_file ? 1 : 3); ++file) {
      for (int i = 0; i < kRows; i += file + 1) {
        Put put(row_at(i));
        for (int q = file % columns; q < columns; q += file + 1)
          put.add("f", column_at(q), "value " + row_at(i + q));
        EXPECT_OK(table_->put(put));
        if (file == 1 && i % 7 == 0) EXPECT_OK(table_->erase(Delete(row_at(i)).column("f", column_at(2))));
        if (file == 1 && i % 11 == 0) EXPECT_OK(table_->erase(Delete(row_at(i))));
      }
      if (file < 2) EXPECT_OK(table_->flush());
    }
  }

  // The texts of the cells of all rows whose column is wanted.
  static void add_texts(const RowView& row, const std::vector<std::string>& wanted, Texts& texts) {
    for (const CellView& cell : row)
      if (wanted.empty() || std::ranges::find(wanted, cell.qualifier()) != wanted.end())
        texts.push_back(std::string(cell.key_bytes()) + std::string(cell.value_bytes()));
  }
  Texts scanned(const Scan& scan, const std::vector<std::string>& wanted = {}) {
    const auto scanner = table_->scan(scan).value();
    Texts texts;
    while (scanner->next()) add_texts(scanner->row(), wanted, texts);
    EXPECT_OK(scanner->status());
    return texts;
  }
  Texts got(const std::vector<std::string>& named, const std::vector<std::string>& wanted) {
    Texts texts;
    for (int i = kFirst; i < kLast; ++i) {
      Get get(row_at(i));
      for (const std::string& each : named) get.column("f", each);
      const RowBatch batch = table_->get(get).value();
      if (!batch.empty()) add_texts(batch.row(), wanted, texts);
    }
    return texts;
  }

  std::shared_ptr<Table> table_;
};

TEST_F(ReadCost, NamedColumnsAreThoseOfTheWholeRow) {
  Random random(5);
  for (const std::string encoding : {"none", "row_index_v1", "fast_diff"}) {
    for (const int columns : {1, 3, 20, 100}) {
      for (const bool in_one_file : {true, false}) {
        FamilyOptions options = family("f", 2);
        options.encoding = encoding;
        fill(encoding + std::to_string(columns) + (in_one_file ? "one" : "three"), columns, in_one_file,
             options);
        for (const int named : {1, 2, 5, 30}) {
          std::vector<std::string> names;
          for (int i = 0; i < named; ++i)
            names.push_back(column_at(static_cast<int>(random.below(static_cast<uint64_t>(columns) + 2))));
          SCOPED_TRACE(encoding + ", " + std::to_string(named) + " of " + std::to_string(columns));
          EXPECT_EQ(got(names, {}), got({}, names));
          for (const bool reversed : {false, true}) {
            Scan scan(KeyRange{row_at(kFirst), row_at(kLast)});
            scan.reversed(reversed);
            const Texts expected = scanned(scan, names);
            for (const std::string& each : names) scan.column("f", each);
            EXPECT_EQ(scanned(scan), expected);
            scan.filter(value_filter(CompareOp::kEqual, substring("value")));
            EXPECT_EQ(scanned(scan), expected);
          }
        }
      }
    }
  }
}

// An explanation lets a read go cell by cell, so the two ways are compared.
TEST_F(ReadCost, RowsInOnePieceAreThoseReadCellByCell) {
  const std::vector<FilterPtr> filters = {nullptr,
                                          value_filter(CompareOp::kEqual, substring("11")),
                                          value_filter(CompareOp::kEqual, substring("no such text")),
                                          row_filter(CompareOp::kEqual, substring("5")),
                                          column_prefix_filter("q10"),
                                          column_range_filter("q103", true, "q107", false),
                                          column_pagination_filter(2, 3),
                                          first_key_only_filter(),
                                          key_only_filter(),
                                          page_filter(7),
                                          multi_row_prefix_filter({"row105", "row12"}).value(),
                                          single_column_value_filter("f", column_at(1), CompareOp::kEqual,
                                                                     substring("2"))};
  for (const int columns : {1, 7, 40}) {
    for (const bool in_one_file : {true, false}) {
      fill("pieces" + std::to_string(columns) + (in_one_file ? "one" : "three"), columns, in_one_file,
           family("f", 2));
      for (const FilterPtr& filter : filters) {
        for (const int named : {0, 1, 3}) {
          for (const bool reversed : {false, true}) {
            Scan scan;
            scan.reversed(reversed).filter(filter);
            for (int i = 0; i < named; ++i) scan.column("f", column_at(2 * i + 1));
            const Texts in_one_piece = scanned(scan);
            ReadExplanation explanation;
            EXPECT_EQ(in_one_piece, scanned(scan.explain(&explanation)))
                << columns << " columns, " << named << " named, "
                << (filter != nullptr ? filter->to_text() : "no filter");
          }
        }
      }
    }
  }
}

TEST_F(ReadCost, NamedColumnsExamineNoMoreCellsThanTheWholeRow) {
  constexpr int kColumns = 20;
  fill("wide", kColumns, true, family("f"));
  for (const int step : {1, 2, 4, 10, 19}) {
    Get get(row_at(100));
    for (int q = 0; q < kColumns; q += step) get.column("f", column_at(q));
    ReadStats stats;
    ASSERT_TRUE(table_->get(get.stats(&stats)).ok());
    EXPECT_LE(stats.cells_examined, uint64_t{kColumns} + 1) << "each " << step;
  }
}

// In both directions each block is read once, whether rows end with a block or go on in the next.
TEST_F(ReadCost, AnUncachedScanReadsEachBlockOnce) {
  for (const std::string encoding : {"none", "diff"}) {
    for (const int columns : {1, 7}) {
      FamilyOptions options = family("f");
      options.encoding = encoding;
      options.cache_blocks = false;
      fill("uncached_" + encoding + std::to_string(columns), columns, true, options);
      ReadStats forward;
      ReadStats backward;
      Texts rows = scanned(Scan().stats(&forward));
      Texts back = scanned(Scan().reversed(true).stats(&backward));
      std::ranges::sort(rows);
      std::ranges::sort(back);
      EXPECT_EQ(back, rows);
      EXPECT_GT(forward.blocks_from_disk, 5u);
      EXPECT_EQ(backward.blocks_from_disk, forward.blocks_from_disk) << encoding << ", " << columns;
    }
  }
}

}  // namespace
}  // namespace cellar::testing
