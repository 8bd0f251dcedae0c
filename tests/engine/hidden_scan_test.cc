// Goal: a long run of delete markers does not ruin scans for ever. Scans that examine many deleted cells in
// vain bring about a compaction, whatever the policy is. It takes no more work than the scans have wasted. A
// reader that must not write brings about none.
// Method: 50,000 deleted rows before a live one. The cells that a scan of one row examines are counted before
// and after.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/engine/engine_fixture.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

class HiddenScan : public EngineFixture {
 protected:
  static constexpr int kRows = 50'000;

  ~HiddenScan() override {
    table_.reset();
    engine_.reset();
  }
  void open_steps(EngineOptions options = {}) {
    table_.reset();
    engine_.reset();
    options.create_if_missing = !options.read_only;
    options.environment = {.files = files_.get(), .clock = &clock_, .executor = &executor_};
    auto opened = Engine::open("store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    engine_ = std::move(opened).value();
  }
  static std::string row(int i) { return "r" + std::to_string(100'000 + i); }
  void fill(FamilyOptions options) {
    table_ = make_table("t", {std::move(options)});
    for (int i = 0; i <= kRows; i += 500) {
      Batch batch;
      for (int k = i; k < std::min(i + 500, kRows + 1); ++k)
        batch.put(table_, Put(row(k)).add("f", "q", "v"));
      EXPECT_OK(engine_->write(batch));
    }
    EXPECT_OK(engine_->flush());
    for (int i = 0; i < kRows; i += 500) {
      Batch batch;
      for (int k = i; k < i + 500; ++k) batch.erase(table_, Delete(row(k)));
      EXPECT_OK(engine_->write(batch));
    }
  }
  // Returns how many cells a scan examines to find the only row.
  uint64_t examined() {
    ReadStats stats;
    auto scanner = table_->scan(Scan().limit(1).stats(&stats)).value();
    EXPECT_TRUE(scanner->next());
    EXPECT_EQ(scanner->row().row(), row(kRows));
    scanner.reset();
    return stats.cells_examined;
  }
  // Looks come a second apart at least.
  void settle() {
    executor_.pause_us(1'100'000);
    executor_.settle();
    EXPECT_OK(engine_->wait_for_background());
    executor_.settle();
  }
  uint64_t stored_markers() const {
    uint64_t count = 0;
    const TableInfo info = table_->info();
    for (const StoreFileInfo& file : info.families.at(0).files) count += file.deletes;
    return count;
  }

  StepExecutor executor_{11, clock_};
  std::shared_ptr<Table> table_;
};

TEST_F(HiddenScan, BringsAboutACompactionUnderEveryPolicy) {
  for (const char* policy : {"none", "exploring", "leveled", "stripe"}) {
    files_ = make_memory_file_system();
    open_steps();
    FamilyOptions options = family("f");
    options.compaction = policy;
    fill(options);
    EXPECT_OK(engine_->flush());
    settle();
    const uint64_t before = stored_markers() == 0 ? 0 : examined();
    settle();
    EXPECT_EQ(stored_markers(), 0u) << policy;
    EXPECT_EQ(examined(), 1u) << policy;
    if (before == 0) continue;  // the policy was faster
    EXPECT_GE(before, 2u * kRows) << policy;
    EXPECT_EQ(engine_->status().scan_compactions, 1u) << policy;
  }
}

// One large run would leave as a whole as soon as the store has too much.
TEST_F(HiddenScan, FifoKeepsItsRunsApart) {
  open_steps();
  FamilyOptions options = family("f");
  options.compaction = "fifo(bytes_max=1000000000)";
  fill(options);
  EXPECT_OK(engine_->flush());
  for (int i = 0; i < 5; ++i) {
    EXPECT_GE(examined(), 2u * kRows);
    settle();
  }
  EXPECT_EQ(table_->info().families.at(0).files.size(), 2u);
  EXPECT_EQ(engine_->status().scan_compactions, 0u);
}

TEST_F(HiddenScan, MarkersThatHaveToStayAreNotFlushed) {
  open_steps();
  FamilyOptions options = family("f");
  options.compaction = "none";
  options.time_to_purge_deletes_ms = 1000;
  fill(options);
  const uint64_t flushes = engine_->status().flushes;
  for (int i = 0; i < 5; ++i) {
    EXPECT_GE(examined(), 2u * kRows);
    settle();
  }
  EXPECT_EQ(engine_->status().flushes, flushes);
}

TEST_F(HiddenScan, MarkersInMemoryAreFlushedFirst) {
  open_steps();
  FamilyOptions options = family("f");
  options.compaction = "none";
  fill(options);
  EXPECT_GE(examined(), 2u * kRows);
  settle();
  EXPECT_EQ(examined(), 1u);
  EXPECT_EQ(engine_->status().memtable_bytes, 0u);
}

TEST_F(HiddenScan, TheOptionSwitchesItOffAndOnlyScansThatSeeDeletedCellsCount) {
  open_steps({.compaction_for_scans = false});
  FamilyOptions options = family("f");
  options.compaction = "none";
  fill(options);
  EXPECT_OK(engine_->flush());
  for (int i = 0; i < 3; ++i) EXPECT_GE(examined(), 2u * kRows);
  settle();
  EXPECT_EQ(stored_markers(), uint64_t{kRows});
  open_steps();
  table_ = engine_->open_table("t").value();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(scan(*table_, Scan().start(row(kRows))).size(), 1u);
  settle();
  EXPECT_EQ(engine_->status().scan_compactions, 0u);
  // A reversed scan meets the same markers.
  EXPECT_EQ(scan(*table_, Scan().reversed(true)).size(), 1u);
  settle();
  EXPECT_EQ(engine_->status().scan_compactions, 1u);
  EXPECT_EQ(stored_markers(), 0u);
}

TEST_F(HiddenScan, AReaderThatMustNotWriteBringsAboutNone) {
  open_steps({.compaction_for_scans = false});
  FamilyOptions options = family("f");
  options.compaction = "none";
  fill(options);
  EXPECT_OK(engine_->flush());
  open_steps({.read_only = true});
  table_ = engine_->open_table("t").value();
  for (int i = 0; i < 3; ++i) EXPECT_GE(examined(), 2u * kRows);
  settle();
  EXPECT_EQ(stored_markers(), uint64_t{kRows});
}

// The snapshot still sees the deleted rows, so the markers cannot leave: no compaction follows the other.
TEST_F(HiddenScan, ASnapshotThatKeepsTheMarkersDoesNotCauseOneCompactionAfterTheOther) {
  open_steps();
  FamilyOptions options = family("f");
  options.compaction = "none";
  table_ = make_table("t", {options});
  EXPECT_OK(table_->put(Put("a").add("f", "q", "v")));
  fill(options);
  auto snapshot = engine_->snapshot().value();
  EXPECT_OK(engine_->flush());
  settle();
  uint64_t rows = 0;
  for (int i = 0; i < 10; ++i) {
    ReadStats stats;
    auto scanner = table_->scan(Scan().start("b").limit(1).stats(&stats)).value();
    while (scanner->next()) ++rows;
    scanner.reset();
    settle();
  }
  EXPECT_EQ(rows, 10u);
  EXPECT_LE(engine_->status().scan_compactions, 2u);
  snapshot.reset();
}

}  // namespace
}  // namespace cellar::testing
