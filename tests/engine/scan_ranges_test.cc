// Goal: a scan of many ranges gives what one scan of each range gives, with all else that a scan may ask for.
// Method: random tables of two families in files and in memory, random ranges, bounds, directions, limits and
// parts. The oracle scans the whole table and keeps the rows within the ranges. Costs are counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "cellar/salted_scan.h"
#include "engine/read/file_table.h"
#include "hfile/read/hfile_reader.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class ScanRanges : public EngineFixture {
 protected:
  ScanRanges() { open(); }

  static std::string row_of(uint64_t number) {
    const std::string digits = std::to_string(number);
    return "r" + std::string(4 - digits.size(), '0') + digits;
  }
  // Rows with an even number, in both families or in one of them, with a deleted row now and then.
  void fill(Random& random, uint64_t rows, bool in_memory_too) {
    FamilyOptions a = family("a", 2);
    FamilyOptions b = family("b");
    a.block_bytes = b.block_bytes = 1024;
    table_ = make_table("t" + std::to_string(++tables_), {a, b});
    const uint64_t parts = in_memory_too ? 3 : 2;
    for (uint64_t part = 0; part < parts; ++part) {
      for (uint64_t i = 0; i < rows; ++i) {
        if (random.below(parts) != part && !random.one_in(6)) continue;
        const std::string row = row_of(2 * i);
        if (random.one_in(9)) EXPECT_OK(table_->erase(Delete(row)));
        Put put(row);
        put.add(random.one_in(3) ? "b" : "a", "q" + std::to_string(random.below(3)), std::to_string(part));
        if (random.one_in(2)) put.add("b", "z", row);
        EXPECT_OK(table_->put(put));
      }
      if (part < 2) EXPECT_OK(table_->flush());
    }
  }
  static std::vector<KeyRange> random_ranges(Random& random, uint64_t rows) {
    std::vector<KeyRange> ranges(random.below(12));
    for (KeyRange& each : ranges) {
      const uint64_t from = random.below(2 * rows + 4);
      each.start = random.one_in(10) ? "" : row_of(from);
      each.stop = random.one_in(10) ? "" : row_of(from + random.below(1 + rows / 4));
      if (random.one_in(5) && !each.stop.empty()) each.stop += '\0';
    }
    return ranges;
  }
  static bool holds(const std::vector<KeyRange>& ranges, std::string_view row) {
    return std::ranges::any_of(ranges, [&](const KeyRange& each) {
      return row >= each.start && (each.stop.empty() || row < each.stop);
    });
  }
  static std::string text_of(const RowView& row) {
    std::string text = std::string(row.row()) + (row.more_cells_in_row() ? "+" : "");
    for (const std::string& cell : cell_texts(row)) text += " " + cell;
    return text;
  }
  // Returns the rows of the scan without ranges, as far as they are in the ranges.
  Texts kept(Table& table, Scan scan, const std::vector<KeyRange>& ranges) {
    const uint64_t limit = scan.limit();
    scan.limit(0);
    Texts texts;
    uint64_t rows = 0;
    const auto scanner = table.scan(scan).value();
    for (const RowView row : *scanner) {
      if (!holds(ranges, row.row())) continue;
      if (limit != 0 && rows == limit) break;
      texts.push_back(text_of(row));
      if (!row.more_cells_in_row()) ++rows;
    }
    EXPECT_OK(scanner->status());
    return texts;
  }
  static Texts read(Table& table, const Scan& scan) {
    Texts texts;
    const auto scanner = table.scan(scan);
    EXPECT_OK(scanner.status());
    if (!scanner.ok()) return texts;
    for (const RowView row : **scanner) texts.push_back(text_of(row));
    EXPECT_OK((*scanner)->status());
    return texts;
  }
  static Texts read_in_batches(Table& table, const Scan& scan, size_t rows) {
    Texts texts;
    const auto scanner = table.scan(scan).value();
    for (RowBatch batch; scanner->next_batch(batch, rows);)
      for (const RowView row : batch) texts.push_back(text_of(row));
    EXPECT_OK(scanner->status());
    return texts;
  }
  // Reads with a new scan at each cursor.
  static Texts read_from_cursors(Table& table, const Scan& asked, uint64_t& cursors) {
    Texts texts;
    Scan scan = asked;
    for (bool again = true; again;) {
      again = false;
      const auto scanner = table.scan(scan).value();
      while (!again && scanner->next()) {
        again = scanner->row().is_cursor();
        if (again) scan.start(scanner->row().row());
        if (!again) texts.push_back(text_of(scanner->row()));
      }
      EXPECT_OK(scanner->status());
      cursors += again ? 1 : 0;
    }
    return texts;
  }
  static Scan random_scan(Random& random, uint64_t rows) {
    Scan scan;
    scan.reversed(random.one_in(2));
    if (random.one_in(3)) scan.limit(1 + random.below(20));
    if (random.one_in(4)) scan.family("a");
    if (random.one_in(4)) scan.versions(2);
    if (random.one_in(6)) scan.batch(1);
    if (random.one_in(4)) scan.start(row_of(random.below(2 * rows)), random.one_in(2));
    if (random.one_in(4)) scan.stop(row_of(random.below(2 * rows)), random.one_in(2));
    return scan;
  }

  std::shared_ptr<Table> table_;
  int tables_ = 0;
};

TEST_F(ScanRanges, GiveWhatTheRowsOfTheTableAre) {
  const uint64_t seed = from_environment("CELLAR_SCAN_RANGES_SEED", system_random());
  std::printf("CELLAR_SCAN_RANGES_SEED=%llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  uint64_t found = 0;
  uint64_t cursors = 0;
  for (uint64_t round = 0; round < scaled(40); ++round) {
    const uint64_t rows = 20 + random.below(300);
    fill(random, rows, random.one_in(2));
    for (int i = 0; i < 50; ++i) {
      const std::vector<KeyRange> ranges = random_ranges(random, rows);
      const Scan plain = random_scan(random, rows);
      const Texts expected = kept(*table_, plain, ranges);
      const Scan asked = Scan(plain).ranges(ranges);
      SCOPED_TRACE("seed " + std::to_string(seed) + " round " + std::to_string(round) + "." +
                   std::to_string(i) + (plain.reversed() ? " reversed" : ""));
      ASSERT_EQ(read(*table_, asked), expected);
      ASSERT_EQ(read_in_batches(*table_, asked, 1 + random.below(9)), expected);
      ReadStats stats;
      ReadExplanation explanation;
      ASSERT_EQ(read(*table_, Scan(asked).stats(&stats).explain(&explanation)), expected);
      ASSERT_EQ(stats.rows_returned,
                static_cast<uint64_t>(std::ranges::count_if(
                    expected, [](const std::string& each) { return each.find("+ ") == each.npos; })));
      if (asked.limit() == 0 && asked.batch() == 0) {
        ASSERT_EQ(read_from_cursors(*table_, Scan(asked).cursor_after_cells(1 + random.below(5)), cursors),
                  expected);
      }
      found += expected.size();
    }
  }
  EXPECT_GT(found, scaled(1000));
  EXPECT_GT(cursors, scaled(1000));
}

TEST_F(ScanRanges, WorkWithFiltersAndFamiliesOnDemand) {
  Random random(7);
  fill(random, 200, true);
  const FilterPtr value = single_column_value_filter("a", "q1", CompareOp::kEqual, binary("1"));
  for (int i = 0; i < 200; ++i) {
    const std::vector<KeyRange> ranges = random_ranges(random, 200);
    for (const FilterPtr& filter : {value, row_filter(CompareOp::kGreater, binary("r0100"))}) {
      const Scan plain = Scan().filter(filter).reversed(random.one_in(2));
      ASSERT_EQ(read(*table_, Scan(plain).ranges(ranges)), kept(*table_, plain, ranges)) << i;
    }
  }
}

TEST_F(ScanRanges, SeeASnapshotAndATransactionsOwnCells) {
  Random random(1);
  fill(random, 50, true);
  const std::vector<KeyRange> ranges = {{"r0010", "r0014"}, {"r0040", "r0044"}, {"r9", "s"}};
  const std::shared_ptr<const Snapshot> snapshot = engine_->snapshot().value();
  const Texts before = read(*table_, Scan(ranges));
  EXPECT_OK(table_->put(Put("r0011").add("a", "q", "new")));
  EXPECT_EQ(read(*table_, Scan(ranges).snapshot(snapshot)), before);
  EXPECT_EQ(read(*table_, Scan(ranges)).size(), before.size() + 1);
  const auto transaction = engine_->begin().value();
  EXPECT_OK(transaction->put(table_, Put("r0043").add("b", "q", "own")));
  EXPECT_OK(transaction->put(table_, Put("r0020").add("b", "q", "own, between the ranges")));
  const auto scanner = transaction->scan(table_, Scan(ranges)).value();
  size_t rows = 0;
  for (const RowView row : *scanner) rows += row.empty() ? 0 : 1;
  EXPECT_EQ(rows, before.size() + 2);
}

TEST_F(ScanRanges, SaltedOnesCombineWithRanges) {
  const auto salted_table = make_table("salted", {family("a")});
  table_ = make_table("plain", {family("a")});
  for (uint64_t i = 0; i < 200; ++i) {
    EXPECT_OK(table_->put(Put(row_of(i)).add("a", "q", "1")));
    EXPECT_OK(salted_table->put(Put(salted(row_of(i), 7)).add("a", "q", "1")));
  }
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const std::vector<KeyRange> ranges = random_ranges(random, 100);
    const Scan plain = random_scan(random, 100).batch(0);
    std::vector<std::string> keys;
    const auto merged = scan_salted(*salted_table, Scan(plain).ranges(ranges), 7).value();
    for (const RowView row : *merged) keys.emplace_back(unsalted(row.row()));
    EXPECT_OK(merged->status());
    std::vector<std::string> expected;
    for (const std::string& text : kept(*table_, plain, ranges)) expected.push_back(text.substr(0, 5));
    ASSERT_EQ(keys, expected) << i;
  }
}

TEST_F(ScanRanges, OfATableOfFilesGoFromRegionToRegion) {
  table_ = make_table("t", {family("a")});
  std::vector<FileTableRegion> regions;
  std::vector<std::string> paths;
  for (uint64_t region = 0; region < 4; ++region) {
    const auto part = make_table("part" + std::to_string(region), {family("a")});
    for (uint64_t i = 100 * region; i < 100 * region + 100; i += 2) {
      EXPECT_OK(table_->put(Put(row_of(i)).add_at("a", "q", 5, "1")));
      EXPECT_OK(part->put(Put(row_of(i)).add_at("a", "q", 5, "1")));
    }
    EXPECT_OK(part->flush());
    paths.push_back("store/" + part->files("a").value().at(0).path);
    regions.push_back(
        {region == 0 ? "" : row_of(100 * region), region == 3 ? "" : row_of(100 * region + 100)});
  }
  size_t opened = 0;
  FileTableOptions options;
  options.table.families = {family("a")};
  options.regions = regions;
  options.open = [&](size_t region, const std::string&) -> Result<std::vector<std::shared_ptr<HFileReader>>> {
    ++opened;
    CELLAR_TRY_ASSIGN(auto file, files_->open_file(paths[region]));
    CELLAR_TRY_ASSIGN(auto reader, HFileReader::open(std::move(file), {}));
    return std::vector<std::shared_ptr<HFileReader>>{reader};
  };
  const auto files = FileTable::create(options).value();
  EXPECT_EQ(read(*files, Scan(std::vector<KeyRange>{{"r0350", "r0352"}, {"r0010", "r0012"}})).size(), 2u);
  EXPECT_EQ(opened, 2u) << "the regions between the ranges are not opened";
  EXPECT_TRUE(read(*files, Scan(std::vector<KeyRange>{})).empty());
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const std::vector<KeyRange> ranges = random_ranges(random, 200);
    const Scan plain = random_scan(random, 200).versions(1);
    const auto rows = [](Texts texts) {
      for (std::string& each : texts) each.resize(5);
      return texts;
    };
    ASSERT_EQ(rows(read(*files, Scan(plain).ranges(ranges))), rows(kept(*table_, plain, ranges))) << i;
  }
}

TEST_F(ScanRanges, ReadTheBlocksOfTheirRowsAndNoOthers) {
  FamilyOptions options = family("a");
  options.block_bytes = 1024;
  options.compaction = "none";
  table_ = make_table("t", {options});
  for (uint64_t file = 0; file < 5; ++file) {
    for (uint64_t i = 0; i < 1000; ++i)
      EXPECT_OK(table_->put(Put(row_of(1000 * file + i)).add("a", "q", std::string(100, 'v'))));
    EXPECT_OK(table_->flush());
  }
  const auto cost_of = [&](const Scan& scan) {
    ReadStats cost;
    EXPECT_FALSE(read(*table_, Scan(scan).stats(&cost)).empty());
    return cost;
  };
  std::vector<KeyRange> ranges;
  for (uint64_t i = 0; i < 10; ++i) ranges.push_back({row_of(100 * i), row_of(100 * i + 1)});
  ranges.push_back({row_of(4500), row_of(4502)});
  const ReadStats all = cost_of({});
  for (const bool reversed : {false, true}) {
    const ReadStats some = cost_of(Scan(ranges).reversed(reversed));
    EXPECT_EQ(some.rows_returned, 12u);
    EXPECT_EQ(some.files_considered, 5u);
    EXPECT_EQ(some.files_skipped_range, 3u) << "three files lie between the ranges";
    EXPECT_LE(some.data_blocks, 3 * ranges.size());
    EXPECT_LT(some.cells_examined, 100u);
    EXPECT_GT(all.data_blocks, 500u);
  }
}

TEST_F(ScanRanges, RefuseWhatMakesNoSense) {
  table_ = make_table("t", {family("a")});
  EXPECT_OK(table_->put(Put("r").add("a", "q", "1")));
  const auto status = [&](const Scan& scan) { return table_->scan(scan).status(); };
  using Ranges = std::vector<KeyRange>;
  EXPECT_EQ(status(Scan(Ranges{{"b", "a"}, {"c", "d"}})).to_text(),
            "invalid_argument: a range of the scan starts at b, after its stop a");
  EXPECT_TRUE(status(Scan(Ranges{{"a", "b"}}).prefix("a")).is(Code::kInvalidArgument));
  EXPECT_TRUE(status(Scan(Ranges{{"a", "b"}, {"c", std::string(40'000, 'd')}})).is(Code::kLimit));
  EXPECT_TRUE(status(Scan(Ranges{}).family("none")).is(Code::kInvalidArgument));
  EXPECT_TRUE(read(*table_, Scan(Ranges{})).empty()) << "no range is not the whole table";
  EXPECT_TRUE(read(*table_, Scan(Ranges{{"r", "r"}})).empty()) << "nor is a range without a key";
  EXPECT_EQ(read(*table_, Scan(Ranges{{"", ""}, {"x", "y"}})).size(), 1u);
  EXPECT_TRUE(read(*table_, Scan(Ranges{{"a", "b"}, {"q", "s"}}).stop("c")).empty());
  EXPECT_EQ(table_->count(Scan(Ranges{{"q", "s"}, {"a", "b"}}))->rows, 1u);
}

}  // namespace
}  // namespace cellar::testing
