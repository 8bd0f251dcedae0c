// Goal: with bloom_allocation=monkey a store reads fewer files in vain, with filters that take the same
// memory. Method: a store of three runs of very different sizes, in both ways. The filters' sizes come from
// the files, the reads in vain from explained gets of absent rows.
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class BloomAllocation : public EngineFixture {
 protected:
  static std::string row(int number) { return "row" + std::to_string(1'000'000 + number); }

  // Runs of 40,000, 4,000 and 400 rows, whose ranges are the same.
  std::shared_ptr<Table> furnish(const std::string& allocation) {
    FamilyOptions f = family("f");
    f.compaction = "none";
    f.bloom_allocation = allocation;
    f.bloom_bits_percent_error = 5;
    const auto table = make_table(allocation, {f});
    int stride = 1;
    for (const int rows : {40'000, 4'000, 400}) {
      Batch batch;
      for (int i = 0; i < rows; ++i) batch.put(table, Put(row(2 * i * stride)).add("f", "q", "v"));
      EXPECT_OK(engine_->write(batch));
      EXPECT_OK(engine_->flush());
      stride *= 10;
    }
    return table;
  }
  // Files that gets of absent rows read.
  static uint64_t read_in_vain(Table& table) {
    uint64_t files = 0;
    for (int i = 0; i < 20'000; ++i) {
      ReadStats stats;
      Get get(row(2 * i + 1));
      get.stats(&stats);
      EXPECT_OK(table.get(get).status());
      files += stats.files_considered - stats.files_skipped_range - stats.files_skipped_bloom;
    }
    return files;
  }
};

TEST_F(BloomAllocation, ReadsFewerFilesInVain) {
  open();
  const uint64_t uniform = read_in_vain(*furnish("uniform"));
  const uint64_t monkey = read_in_vain(*furnish("monkey"));
  EXPECT_GT(uniform, 1200u);
  EXPECT_LT(monkey, uniform * 3 / 4);
  std::printf("counted %zu files read in vain by 20,000 gets, %zu with monkey\n", size_t{uniform},
              size_t{monkey});
  EXPECT_GT(monkey, 300u);  // of the largest run, whose filter is a little smaller
}

TEST_F(BloomAllocation, ARunThatGrowsInACompactionGetsTheRateOfItsSize) {
  open();
  const auto table = furnish("monkey");
  EXPECT_OK(table->major_compact());
  const uint64_t alone = read_in_vain(*table);
  EXPECT_GT(alone, 500u);  // 5 % of 20,000, or a little less, because sizes are rounded up
  EXPECT_LT(alone, 1200u);
}

TEST_F(BloomAllocation, OtherWordsAreRefused) {
  open();
  FamilyOptions f = family("f");
  f.bloom_allocation = "fair";
  const auto made = engine_->create_table("t", {.families = {f}});
  EXPECT_TRUE(made.status().is(Code::kInvalidArgument));
  EXPECT_NE(made.status().message().find("bloom_allocation must be uniform or monkey"), std::string::npos);
}

}  // namespace
}  // namespace cellar::testing
