// Goal: gets and scans leave out the files whose Bloom filters deny the requested keys, and only those.
// Method: one family of each Bloom type, files with known rows, and counts of skipped and examined files.
// Random reads are compared with a family without a filter.
#include "base/random.h"
#include "engine/store/store_file.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class BloomReads : public EngineFixture {
 protected:
  // A table of one family, whose files stay as they were flushed.
  std::shared_ptr<Table> table_of(const std::string& bloom) {
    open({.automatic_compaction = false});
    FamilyOptions options = family("f");
    options.bloom = bloom;
    return make_table("t", {options});
  }

  // Three files: rows a*, b* and c*, each also with the first and the last row, so that key ranges tell
  // nothing.
  static void fill(Table& table) {
    for (const std::string prefix : {"aa", "bb", "cc"}) {
      EXPECT_OK(table.put(Put("0").add("f", prefix, "first")));
      for (int i = 0; i < 50; ++i)
        EXPECT_OK(
            table.put(Put(prefix + std::to_string(100 + i)).add("f", prefix, "value").add("f", "x", "y")));
      EXPECT_OK(table.put(Put("z").add("f", prefix, "last")));
      EXPECT_OK(table.flush());
    }
  }

  static ReadStats cost_of_scan(Table& table, Scan scan, size_t cells) {
    ReadStats stats;
    EXPECT_EQ(EngineFixture::scan(table, scan.stats(&stats)).size(), cells);
    return stats;
  }
};

// While all gets find their row, the filter of the only file is not asked. A get that finds nothing makes the
// next ones ask.
TEST_F(BloomReads, GetsThatFindTheirRowStopAsking) {
  const auto table = table_of("row");
  ASSERT_NE(table, nullptr);
  for (int i = 0; i < 100; ++i)
    EXPECT_OK(table->put(Put("row" + std::to_string(100 + i)).add("f", "q", "v")));
  EXPECT_OK(table->flush());
  const auto checks_of = [&](int gets, const std::string& suffix) {
    ReadStats stats;
    for (int i = 0; i < gets; ++i) {
      Get one("row" + std::to_string(100 + i % 100) + suffix);
      EXPECT_EQ(get(*table, one.column("f", "q").stats(&stats)).size(), suffix.empty() ? 1u : 0u);
    }
    return stats.bloom_checks;
  };
  EXPECT_EQ(checks_of(StoreFile::kAsksAfterMiss, ""), StoreFile::kAsksAfterMiss);
  EXPECT_EQ(checks_of(100, ""), 0u) << "all of them were found";
  EXPECT_EQ(checks_of(1, "x"), 0u) << "nobody expected it";
  EXPECT_EQ(checks_of(10, "x"), 10u);
  EXPECT_EQ(checks_of(1000, ""), StoreFile::kAsksAfterMiss);
  // A younger file is asked always.
  EXPECT_OK(table->put(Put("row100").add("f", "other", "v")));
  EXPECT_OK(table->put(Put("row199").add("f", "other", "v")));
  EXPECT_OK(table->flush());
  const uint64_t checks = checks_of(100, "");
  EXPECT_GE(checks, 102u) << "two rows have a source in the younger file";
  EXPECT_LE(checks, 110u);
}

TEST_F(BloomReads, PrefixScansSkipFiles) {
  const auto table = table_of("rowprefix_fixed_length(prefix_length=2)");
  ASSERT_NE(table, nullptr);
  fill(*table);
  for (const bool reversed : {false, true}) {
    ReadStats stats = cost_of_scan(*table, Scan().prefix("bb").reversed(reversed), 100);
    EXPECT_EQ(stats.files_considered, 3u);
    EXPECT_EQ(stats.files_skipped_bloom, 2u);
    EXPECT_EQ(stats.bloom_checks, 3u);
    stats = cost_of_scan(*table, Scan().prefix("bb10").reversed(reversed), 20);
    EXPECT_EQ(stats.files_skipped_bloom, 2u);
    stats = cost_of_scan(*table, Scan().prefix("b").reversed(reversed), 100);
    EXPECT_EQ(stats.files_skipped_bloom, 0u) << "shorter than what is hashed";
  }
  EXPECT_EQ(cost_of_scan(*table, Scan().start("bb110").stop("bb120"), 20).files_skipped_bloom, 2u);
  EXPECT_EQ(cost_of_scan(*table, Scan().start("bb110").stop("cc101"), 82).files_skipped_bloom, 0u);
  ReadStats stats;
  EXPECT_EQ(get(*table, Get("bb101").stats(&stats)).size(), 2u);
  EXPECT_EQ(stats.files_skipped_bloom, 2u) << "a get of one row asks for its prefix";
}

TEST_F(BloomReads, GetsOfColumnsSkipFiles) {
  const auto table = table_of("rowcol");
  ASSERT_NE(table, nullptr);
  fill(*table);
  ReadStats stats;
  EXPECT_EQ(get(*table, Get("0").column("f", "bb").stats(&stats)).size(), 1u);
  EXPECT_EQ(stats.files_skipped_bloom, 2u) << "the row is in all three, the column in one";
  stats = {};
  EXPECT_EQ(get(*table, Get("0").column("f", "bb").column("f", "aa").stats(&stats)).size(), 2u);
  EXPECT_EQ(stats.files_skipped_bloom, 1u);
  stats = {};
  EXPECT_EQ(get(*table, Get("0").stats(&stats)).size(), 3u);
  EXPECT_EQ(stats.files_skipped_bloom, 0u) << "a whole row is not a question for this filter";
  stats = {};
  EXPECT_EQ(get(*table, Get("nowhere").column("f", "aa").stats(&stats)).size(), 0u);
  EXPECT_EQ(stats.files_skipped_bloom, 3u);
}

TEST_F(BloomReads, AFamilyMarkerHidesColumnsOfOlderFiles) {
  for (const char* bloom : {"none", "row", "rowcol", "rowprefix_fixed_length(prefix_length=2)"}) {
    files_ = make_memory_file_system();
    const auto table = table_of(bloom);
    ASSERT_NE(table, nullptr);
    fill(*table);
    EXPECT_OK(table->put(Put("0").add("f", "new", "later")));
    EXPECT_OK(table->erase(Delete("0").family("f")));
    EXPECT_OK(table->erase(Delete("bb149").family("f")));
    EXPECT_OK(table->flush());
    EXPECT_EQ(get(*table, Get("0").column("f", "bb")), Texts()) << bloom;
    EXPECT_EQ(get(*table, Get("bb149").column("f", "x")), Texts()) << bloom;
    EXPECT_EQ(get(*table, Get("bb148").column("f", "x")).size(), 1u) << bloom;
  }
}

// The filter of rows with family markers saves the look at the front of a row without them.
TEST_F(BloomReads, RowsWithoutFamilyMarkersBeginAtTheirColumn) {
  for (const char* bloom : {"row", "rowcol"}) {
    files_ = make_memory_file_system();
    const auto table = table_of(bloom);
    ASSERT_NE(table, nullptr);
    Put wide("wide");
    for (int i = 0; i < 3000; ++i) wide.add("f", "q" + std::to_string(10000 + i), std::string(100, 'v'));
    EXPECT_OK(table->put(wide));
    EXPECT_OK(table->erase(Delete("other").family("f")));
    EXPECT_OK(table->erase(Delete("zother").family("f")));
    EXPECT_OK(table->flush());
    ReadStats stats;
    EXPECT_EQ(get(*table, Get("wide").column("f", "q12500").stats(&stats)).size(), 1u);
    EXPECT_EQ(stats.cells_examined, 1u) << bloom;
  }
}

TEST_F(BloomReads, EveryTypeAnswersAsNoFilterDoes) {
  Random random(7);
  open({.automatic_compaction = false});
  std::vector<FamilyOptions> families;
  for (const char* bloom : {"none", "row", "rowcol", "rowprefix_fixed_length(prefix_length=1)",
                            "rowprefix_fixed_length(prefix_length=3)"}) {
    families.push_back(family("f" + std::to_string(families.size()), 2));
    families.back().bloom = bloom;
  }
  const auto table = make_table("t", families);
  ASSERT_NE(table, nullptr);
  const auto draw_row = [&] {
    std::string row;
    for (uint64_t n = 1 + random.below(4); n > 0; --n) row += static_cast<char>('a' + random.below(3));
    return row;
  };
  const auto of_family = [](const Texts& texts, size_t family) {  // without the family's name
    Texts of;
    for (std::string text : texts)
      if (const size_t at = text.find("/f" + std::to_string(family) + ":"); at != std::string::npos)
        of.push_back(text.erase(at, 3));
    return of;
  };
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 20; ++i) {
      const std::string row = draw_row();
      const std::string column(1, static_cast<char>('p' + random.below(4)));
      const int64_t time = static_cast<int64_t>(1 + random.below(50));
      const uint64_t kind = random.below(8);
      for (const FamilyOptions& each : families) {
        Delete remove(row);
        if (kind == 0) remove.family(each.name, time);
        if (kind == 1) remove.column(each.name, column, time);
        EXPECT_OK(kind < 2 ? table->erase(remove)
                           : table->put(Put(row).add_at(each.name, column, time, std::to_string(i))));
      }
    }
    EXPECT_OK(table->flush());
    for (int i = 0; i < 60; ++i) {
      const std::string row = draw_row();
      Get get(row);
      Scan scan;
      scan.reversed(random.one_in(2)).prefix(row);
      const bool columns = random.one_in(2);
      for (const FamilyOptions& each : families) {
        if (columns) {
          get.column(each.name, "p").column(each.name, "r");
          scan.column(each.name, "q");
        }
      }
      for (const Texts& found : {BloomReads::get(*table, get), EngineFixture::scan(*table, scan)})
        for (size_t f = 1; f < families.size(); ++f)
          ASSERT_EQ(of_family(found, f), of_family(found, 0)) << families[f].bloom << " " << row;
    }
  }
}

}  // namespace
}  // namespace cellar::testing
