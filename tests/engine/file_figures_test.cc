// Goal: policies are told the age of the oldest delete marker of a file, and when the file was last read.
// Both figures are right after compactions and after the store was opened again. Method: the test makes
// flushes, gets and scans, and compares the figures of each file. Then a policy acts by them.
#include <functional>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class FileFigures : public EngineFixture {
 protected:
  void open_with(const std::string& policy, bool automatic = false) {
    EngineOptions options;
    options.automatic_compaction = automatic;
    open(options);
    FamilyOptions f = family("f");
    f.compaction = policy;
    f.bloom = "ROW";
    table_ = make_table("t", {f});
  }
  void put(const std::string& row) { EXPECT_OK(table_->put(Put(row).add("f", "q", "v"))); }
  void flush() { EXPECT_OK(table_->flush()); }
  std::vector<StoreFileInfo> files() const { return table_->info().families.at(0).files; }

  std::shared_ptr<Table> table_;
};

TEST_F(FileFigures, TheOldestMarkerIsKnownAndStaysKnown) {
  open_with("none");
  put("a");
  flush();
  const int64_t begin = clock_.wall_ms();
  EXPECT_OK(table_->erase(Delete("a")));
  clock_.advance_ms(500);
  EXPECT_OK(table_->erase(Delete("b").column("f", "q")));
  flush();
  clock_.advance_ms(500);
  EXPECT_OK(table_->erase(Delete("c")));
  flush();
  const auto oldest = [&] {
    std::vector<int64_t> all;
    for (const StoreFileInfo& file : files())
      all.push_back(file.earliest_delete == INT64_MAX ? -1 : file.earliest_delete - begin);
    return all;
  };
  const std::vector<int64_t> expected = {-1, 0, 1000};
  EXPECT_EQ(oldest(), expected);
  table_.reset();
  open();
  table_ = engine_->open_table("t").value();
  EXPECT_EQ(oldest(), expected);
  EXPECT_OK(table_->major_compact());
  ASSERT_LE(files().size(), 1u);
}

TEST_F(FileFigures, ReadsAreNotedByTheStateOfTheStore) {
  open_with("none");
  for (const char* row : {"a", "b", "c"}) {
    put(row);
    flush();
  }
  const auto last_reads = [&] {
    std::vector<uint64_t> all;
    for (const StoreFileInfo& file : files()) all.push_back(file.last_read);
    return all;
  };
  const std::vector<uint64_t> fresh = last_reads();
  ASSERT_EQ(fresh.size(), 3u);
  EXPECT_LT(fresh[0], fresh[1]);
  EXPECT_LT(fresh[1], fresh[2]);
  EXPECT_EQ(get(*table_, Get("b")).size(), 1u);
  EXPECT_EQ(get(*table_, Get("nobody")).size(), 0u);
  std::vector<uint64_t> after = last_reads();
  EXPECT_EQ(after[0], fresh[0]) << "Bloom filters and ranges of rows keep the get away";
  EXPECT_GE(after[1], fresh[2]);
  EXPECT_EQ(scan(*table_, Scan()).size(), 3u);
  after = last_reads();
  EXPECT_EQ(after[0], after[1]);
  EXPECT_EQ(after[1], after[2]);
  table_.reset();
  open();
  table_ = engine_->open_table("t").value();
  EXPECT_EQ(last_reads(), (std::vector<uint64_t>{0, 0, 0}));
}

// Markers leave the store in time, although no level is too large.
TEST_F(FileFigures, ATombstoneAgeIsKept) {
  open_with("leveled(tombstone_age=10s)");
  for (int i = 0; i < 20; ++i) put("row" + std::to_string(10 + i));
  flush();
  EXPECT_OK(table_->compact());
  EXPECT_OK(table_->erase(Delete("row15")));
  flush();
  EXPECT_OK(table_->compact());
  const auto markers = [&] {
    uint64_t all = 0;
    for (const StoreFileInfo& file : files()) all += file.deletes;
    return all;
  };
  EXPECT_EQ(markers(), 1u);
  clock_.advance_ms(11'000);
  put("row99");
  flush();
  EXPECT_OK(table_->compact());
  EXPECT_EQ(markers(), 0u);
  EXPECT_EQ(get(*table_, Get("row15")).size(), 0u);
  EXPECT_EQ(scan(*table_, Scan()).size(), 20u);
}

}  // namespace
}  // namespace cellar::testing
