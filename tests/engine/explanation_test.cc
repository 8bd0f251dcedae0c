// Goal: an explanation names each source of a read, the reason why it was read or not, and the cells that it
// gave. It accounts for every cell that was examined. Method: stores in which each outcome and each rule
// occurs, counted by hand. In random reads, the parts must add up to the counts of the read itself, and the
// answer is the same as without an explanation.
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

using Outcome = ReadExplanation::Outcome;

class ExplanationTest : public EngineFixture {
 protected:
  void make(std::vector<FamilyOptions> families) {
    EngineOptions options;
    options.automatic_compaction = false;
    open(options);
    table_ = make_table("t", std::move(families));
  }
  void put(const std::string& row, const std::string& qualifier, int64_t time,
           const std::string& value = "v") {
    EXPECT_OK(table_->put(Put(row).add_at("f", qualifier, time, value)));
  }
  void flush() { EXPECT_OK(table_->flush()); }
  static std::vector<Outcome> outcomes(const ReadExplanation& of) {
    std::vector<Outcome> all;
    for (const ReadExplanation::Source& source : of.sources) all.push_back(source.outcome);
    return all;
  }

  std::shared_ptr<Table> table_;
};

TEST_F(ExplanationTest, SaysWhyEachFileWasReadOrNot) {
  FamilyOptions f = family("f", 3);
  make({f});
  put("a", "q", 10);
  put("b", "q", 10);
  flush();  // the oldest: holds the answer
  put("a", "q", 90);
  put("z", "q", 90);
  flush();  // outside the times asked for
  put("x", "q", 10);
  put("z", "q", 10);
  flush();  // outside the keys
  put("a", "q", 11);
  put("c", "q", 11);
  flush();  // the filter knows that b is not there
  put("b", "other", 10);
  ReadExplanation explanation;
  ReadStats stats;
  const Texts found =
      get(*table_, Get("b").column("f", "q").time_range(5, 20).explain(&explanation).stats(&stats));
  EXPECT_EQ(found, Texts{"b/f:q/10/Put=v"});
  EXPECT_EQ(outcomes(explanation), (std::vector{Outcome::kRead, Outcome::kBloomFilter, Outcome::kOutsideKeys,
                                                Outcome::kOutsideTimes, Outcome::kRead}));
  EXPECT_EQ(explanation.sources.front().name, "");
  EXPECT_EQ(explanation.sources.front().cells_taken, 0u);
  const ReadExplanation::Source& oldest = explanation.sources.back();
  EXPECT_EQ(oldest.family, "f");
  EXPECT_EQ(oldest.cells_taken, 1u);
  EXPECT_EQ(oldest.cost.blocks_from_disk + oldest.cost.blocks_from_cache, 2u);  // of its filter, of its data
  EXPECT_EQ(oldest.cost.data_blocks, 1u);
  EXPECT_NE(oldest.name.find(table_->info().families[0].files[0].name), std::string::npos);
  EXPECT_EQ(stats.files_considered, 4u);
  EXPECT_EQ(stats.files_skipped_bloom, 1u);
  EXPECT_EQ(stats.files_skipped_range, 1u);
  EXPECT_EQ(stats.files_skipped_time, 1u);
  EXPECT_EQ(stats.memtables, 1u);
  const std::string text = to_text(explanation);
  EXPECT_NE(text.find("denied by its Bloom filter"), std::string::npos) << text;
  // A row of which memory knows nothing.
  ReadExplanation other;
  EXPECT_EQ(get(*table_, Get("c").explain(&other)).size(), 1u);
  EXPECT_EQ(other.sources.front().outcome, Outcome::kNoSuchRow);
}

TEST_F(ExplanationTest, CountsCellsByTheRuleThatPassedThemOver) {
  FamilyOptions f = family("f", 2);
  f.ttl_s = 1;
  make({f});
  const int64_t now = clock_.wall_ms();
  put("r", "a", now - 5000);                                 // expired
  for (int i = 0; i < 4; ++i) put("r", "b", now - 100 + i);  // two are too many
  put("r", "c", now - 10, "first");
  put("r", "c", now - 10, "again");  // overwrites it
  put("r", "d", now - 50);
  EXPECT_OK(table_->erase(Delete("r").version("f", "d", now - 50)));
  ReadExplanation explanation;
  ReadStats stats;
  EXPECT_EQ(get(*table_, Get("r").all_versions().explain(&explanation).stats(&stats)).size(), 3u);
  const ReadExplanation::PassedOver& over = explanation.passed_over;
  EXPECT_EQ(over.expired, 1u);
  EXPECT_EQ(over.markers, 1u);
  EXPECT_EQ(over.hidden, 1u);
  EXPECT_EQ(over.overwritten, 1u);
  EXPECT_EQ(over.over_versions + over.rest_of_decided, 2u);  // after the second version the column is decided
  EXPECT_EQ(stats.cells_examined, 9u);
  // Times, snapshots, columns, filters.
  auto before = engine_->snapshot();
  ASSERT_TRUE(before.ok());
  put("r", "c", now - 9, "newest");
  ReadExplanation second;
  EXPECT_EQ(get(*table_, Get("r")
                             .column("f", "b")
                             .column("f", "c")
                             .time_range(now - 100, now - 98)
                             .filter(value_filter(CompareOp::kEqual, binary("none")))
                             .snapshot(*before)
                             .explain(&second)),
            Texts{});
  EXPECT_EQ(second.passed_over.newer, 1u);
  EXPECT_GE(second.passed_over.outside_times, 2u);
  EXPECT_EQ(second.passed_over.filtered, 2u);
}

TEST_F(ExplanationTest, AddsUpToWhatTheReadCounts) {
  make({family("f", 2), family("g")});
  Random random(test_seed(7));
  const auto row = [&] { return "r" + std::to_string(random.below(40)); };
  for (int i = 0; i < 3000; ++i) {
    const std::string name = random.below(3) == 0 ? "g" : "f";
    const std::string column = "q" + std::to_string(random.below(6));
    if (random.below(8) == 0) {
      EXPECT_OK(table_->erase(Delete(row()).column(name, column)));
    } else {
      EXPECT_OK(table_->put(Put(row()).add_at(name, column, static_cast<int64_t>(random.below(50)), "v")));
    }
    if (random.below(400) == 0) flush();
  }
  for (int i = 0; i < 300; ++i) {
    Scan scan;
    scan.reversed(random.below(2) == 0);
    if (random.below(2) == 0) scan.all_versions();
    if (random.below(2) == 0) scan.start(row());
    if (random.below(3) == 0) scan.family("f");
    if (random.below(3) == 0) scan.time_range(5, 30);
    const Texts plain = EngineFixture::scan(*table_, scan);
    ReadExplanation explanation;
    ReadStats stats;
    ASSERT_EQ(EngineFixture::scan(*table_, scan.explain(&explanation).stats(&stats)), plain);
    uint64_t taken = 0;
    uint64_t blocks = 0;
    for (const ReadExplanation::Source& source : explanation.sources) {
      taken += source.cells_taken;
      blocks += source.cost.blocks_from_cache + source.cost.blocks_from_disk;
      ASSERT_LE(source.cells_taken, source.cells_met);
    }
    ASSERT_EQ(taken, stats.cells_returned);
    ASSERT_EQ(taken, plain.size());
    ASSERT_EQ(blocks, stats.blocks_from_cache + stats.blocks_from_disk);
    const ReadExplanation::PassedOver& over = explanation.passed_over;
    ASSERT_EQ(over.newer + over.other_column + over.expired + over.cell_expired + over.markers + over.hidden +
                  over.outside_times + over.overwritten + over.over_versions + over.filtered +
                  over.rest_of_decided + taken,
              stats.cells_examined);
  }
}

}  // namespace
}  // namespace cellar::testing
