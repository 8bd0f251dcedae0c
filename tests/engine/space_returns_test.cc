// Goal: a store gives all space back once nothing in it is visible any more. Method: overwrite, then delete
// or expire everything, and look at each file that is left on the disk.
#include <gtest/gtest.h>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class SpaceReturns : public EngineFixture {
 protected:
  static constexpr int kRows = 500;

  void SetUp() override {
    EngineOptions options;
    options.log_segment_bytes = 1 << 20;
    options.automatic_compaction = false;
    open(options);
  }
  // Overwrites all rows several times. Returns the largest number of bytes that the store's files had.
  uint64_t churn(Table& table) {
    uint64_t peak = 0;
    for (int round = 0; round < 8; ++round) {
      for (int row = 0; row < kRows; ++row) {
        const std::string value = std::to_string(row * 7919 + round) + std::string(1000, 'v');
        EXPECT_OK(table.put(Put("row" + std::to_string(row)).add("d", "q", value)));
      }
      clock_.advance_ms(1);
      EXPECT_OK(table.flush());
      peak = std::max(peak, bytes_below("store/tables"));
    }
    return peak;
  }
  // A job that still reads an obsolete file keeps it. The jobs have ended after the close.
  void expect_empty(uint64_t peak) {
    EXPECT_OK(engine_->close());
    EXPECT_EQ(bytes_below("store/tables"), 0u) << "of " << peak;
  }
  // The bytes of all files in a directory and those below it.
  uint64_t bytes_below(const std::string& path) {
    const auto directory = files_->open_directory(path, false).value();
    uint64_t bytes = 0;
    const auto entries = directory->list().value();
    for (const DirectoryEntry& entry : entries) {
      if (entry.is_directory) {
        bytes += bytes_below(path + "/" + entry.name);
      } else {
        const auto file = directory->open(entry.name);
        bytes += file.ok() ? (*file)->size() : 0;
      }
    }
    return bytes;
  }
};

TEST_F(SpaceReturns, AfterEverythingWasDeleted) {
  const auto table = make_table("t", {family("d", 3)});
  const uint64_t peak = churn(*table);
  ASSERT_GT(peak, uint64_t{kRows} * 3);
  for (int row = 0; row < kRows; ++row) EXPECT_OK(table->erase(Delete("row" + std::to_string(row))));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->major_compact());
  EXPECT_TRUE(table->info().families[0].files.empty());
  expect_empty(peak);
}

TEST_F(SpaceReturns, AfterEverythingHasExpired) {
  FamilyOptions brief = family("d", 3);
  brief.ttl_s = 60;
  const auto table = make_table("t", {brief});
  const uint64_t peak = churn(*table);
  clock_.advance_ms(120'000);
  EXPECT_OK(table->major_compact());
  EXPECT_TRUE(table->info().families[0].files.empty());
  expect_empty(peak);
}

TEST_F(SpaceReturns, AfterTheTableWasDropped) {
  const uint64_t peak = churn(*make_table("t", {family("d", 3)}));
  EXPECT_OK(engine_->drop_table("t"));
  expect_empty(peak);
}

// An open reads the log that the manifest names. It is short if the files have everything.
TEST_F(SpaceReturns, ALogWhoseCellsAreInFilesLeavesWithTheClose) {
  auto table = make_table("t", {family("d")});
  churn(*table);
  EXPECT_GT(bytes_below("store/wal"), 1u << 20);
  table.reset();
  EXPECT_OK(engine_->close());
  EXPECT_LE(bytes_below("store/wal"), 512u);
  open();
  EXPECT_EQ(engine_->recovery_report().records_replayed, 0u);
  table = engine_->open_table("t").value();
  EXPECT_EQ(scan(*table, Scan()).size(), uint64_t{kRows});

  // One cell that is in no file keeps the log.
  EXPECT_OK(table->put(Put("row").add("d", "q", std::string(300'000, 'v'))));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->put(Put("last").add("d", "q", "v")));
  table.reset();
  EXPECT_OK(engine_->close());
  EXPECT_GT(bytes_below("store/wal"), 300'000u);
  open();
  EXPECT_EQ(engine_->recovery_report().cells_replayed, 1u);
  EXPECT_EQ(scan(*engine_->open_table("t").value(), Scan()).size(), uint64_t{kRows} + 2);
}

// A feed needs the log for longer.
TEST_F(SpaceReturns, AFeedKeepsALogWhoseCellsAreInFiles) {
  auto table = make_table("t", {family("d")});
  EXPECT_OK(engine_->feeds().create("f", {}));
  churn(*table);
  table.reset();
  EXPECT_OK(engine_->close());
  open();
  const auto reader = engine_->feeds().read("f", {}).value();
  uint64_t records = 0;
  while (reader->next().value() != nullptr) ++records;
  EXPECT_EQ(records, uint64_t{kRows} * 8);
}

}  // namespace
}  // namespace cellar::testing
