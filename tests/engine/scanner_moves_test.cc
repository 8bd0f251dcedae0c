// Goal: a scanner that outlives a flush goes on in the new file, and lets go of the memtable. Nobody sees a
// difference: each scan returns what it would have returned without the flush. Where the file does not have
// all that the scanner sees, the scanner keeps the memtable.
// Method: scans of every kind are interrupted by writes, flushes and compactions. Their rows are compared
// with those of the same scan before. The bytes of held memtables tell whether the scanner has moved.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cellar/filter.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class ScannerMoves : public EngineFixture {
 protected:
  static constexpr int kRows = 600;

  ~ScannerMoves() override {
    table_.reset();
    engine_.reset();
  }
  static std::string row(int i) { return "row" + std::to_string(1000 + i); }
  // Rows in both families, the odd ones in a file and the even ones in the memtable.
  void fill(uint32_t versions = 1) {
    open({.automatic_compaction = false});
    table_ = make_table("t", {family("a", versions), family("b", versions)});
    for (int i = 1; i < kRows; i += 2) put(i, "file");
    EXPECT_OK(table_->flush());
    for (int i = 0; i < kRows; i += 2) put(i, "memory");
  }
  void put(int i, const std::string& value) {
    Put put(row(i));
    put.add("a", "q", value + std::to_string(i));
    if (i % 3 == 0) put.add("b", "q", value).add("b", "r", value);
    EXPECT_OK(table_->put(put));
  }
  uint64_t held() { return engine_->status().memtable_held_bytes; }

  // Reads the scan, and calls `between` once after `rows` rows.
  Texts read(const Scan& scan, int rows, const std::function<void()>& between) {
    Texts texts;
    auto scanner = table_->scan(scan).value();
    int seen = 0;
    while (scanner->next()) {
      for (const std::string& text : cell_texts(scanner->row())) texts.push_back(text);
      if (++seen == rows) between();
    }
    EXPECT_OK(scanner->status());
    return texts;
  }
  Texts read_batches(const Scan& scan, size_t rows, const std::function<void()>& between) {
    Texts texts;
    auto scanner = table_->scan(scan).value();
    RowBatch batch;
    for (bool first = true; scanner->next_batch(batch, rows); first = false) {
      for (const RowView& each : batch)
        for (const std::string& text : cell_texts(each)) texts.push_back(text);
      batch.clear();
      if (first) between();
    }
    EXPECT_OK(scanner->status());
    return texts;
  }

  std::shared_ptr<Table> table_;
};

TEST_F(ScannerMoves, AMemtableIsLetGoAtTheNextBatch) {
  fill();
  auto scanner = table_->scan(Scan().family("a")).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_OK(engine_->flush());
  EXPECT_GT(held(), 0u) << "the scanner stands on a row";
  for (int i = 1; i < 100; ++i) ASSERT_TRUE(scanner->next());
  EXPECT_EQ(held(), 0u);
  for (int i = 100; i < kRows; ++i) {
    ASSERT_TRUE(scanner->next());
    EXPECT_EQ(scanner->row().row(), row(i));
  }
  EXPECT_FALSE(scanner->next());
  EXPECT_OK(scanner->status());
}

TEST_F(ScannerMoves, EveryKindOfScanReturnsWhatItWouldHaveReturned) {
  const std::vector<std::pair<const char*, Scan>> scans = {
      {"all", Scan()},
      {"one family", Scan().family("b")},
      {"a column", Scan().column("b", "r")},
      {"reversed", Scan().reversed(true)},
      {"bounds", Scan().start(row(50)).stop(row(550))},
      {"bounds, reversed", Scan().start(row(550)).stop(row(50)).reversed(true)},
      {"ranges", Scan(std::vector<KeyRange>{{row(10), row(90)}, {row(200), row(210)}, {row(300), row(599)}})},
      {"parts of rows", Scan().batch(1)},
      {"a limit", Scan().limit(1001)},
      {"raw", Scan().raw(true)}};
  for (const auto& [name, scan] : scans) {
    for (const int rows : {1, 7, 32, 33, 64, 150}) {
      files_ = make_memory_file_system();
      fill();
      const Texts expected = read(scan, 0, [] {});
      ASSERT_GT(expected.size(), 150u) << name;
      const auto change = [&] {
        EXPECT_OK(engine_->flush());
        for (int i = 0; i < kRows; i += 5) put(i, "later");
        for (int i = 0; i < kRows; i += 7) EXPECT_OK(table_->erase(Delete(row(i))));
        EXPECT_OK(engine_->flush());
      };
      EXPECT_EQ(read(scan, rows, change), expected) << name << ", after " << rows;
      EXPECT_EQ(held(), 0u);
    }
    files_ = make_memory_file_system();
    fill();
    const Texts expected = read(scan, 0, [] {});
    EXPECT_EQ(read_batches(scan, 40, [&] { EXPECT_OK(engine_->flush()); }), expected) << name;
  }
}

TEST_F(ScannerMoves, AFlushThatDropsCellsKeepsTheMemtableForTheScanner) {
  fill();
  for (int i = 0; i < kRows; i += 2) put(i, "second");
  const Texts expected = read(Scan(), 0, [] {});
  auto scanner = table_->scan(Scan()).value();
  Texts texts;
  const auto take = [&](int rows) {
    for (int i = 0; i < rows && scanner->next(); ++i)
      for (const std::string& text : cell_texts(scanner->row())) texts.push_back(text);
  };
  take(10);
  for (int i = 0; i < kRows; i += 2) put(i, "third");
  EXPECT_OK(engine_->flush());  // drops what the scanner sees
  take(200);
  EXPECT_GT(held(), 0u);
  take(kRows);
  EXPECT_EQ(texts, expected);
  scanner.reset();
  EXPECT_EQ(held(), 0u);
}

TEST_F(ScannerMoves, AFileThatACompactionReplacesIsFollowedOnlyByThoseWhoMovedBefore) {
  fill();
  const Texts expected = read(Scan(), 0, [] {});
  const auto compact = [&] {
    EXPECT_OK(engine_->flush());
    for (int i = 0; i < kRows; ++i) put(i, "later");
    EXPECT_OK(table_->major_compact());
  };
  EXPECT_EQ(read(Scan(), 3, compact), expected);
  files_ = make_memory_file_system();
  fill();
  EXPECT_EQ(read(Scan(), 3, [&] { EXPECT_OK(engine_->flush()); }), expected);
  auto scanner = table_->scan(Scan()).value();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(scanner->next());
  put(1, "new");
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table_->major_compact());
  int rows = 40;
  while (scanner->next()) ++rows;
  EXPECT_EQ(rows, kRows);
}

// Row 300 is the last one. The filter ends it in its first family, and the second one is not read.
TEST_F(ScannerMoves, AFilterThatEndsInsideARowEndsTheScan) {
  fill();
  const Scan scan =
      Scan().filter(while_match_filter(value_filter(CompareOp::kNotEqual, binary("memory300"))));
  const Texts expected = read(scan, 0, [] {});
  ASSERT_GT(expected.size(), 300u);
  EXPECT_EQ(read_batches(scan, 1000, [&] { EXPECT_OK(engine_->flush()); }), expected);
}

TEST_F(ScannerMoves, AScannerThatCannotMoveNeedsNoMoreMemoryWithEachBatch) {
  open({.automatic_compaction = false});
  table_ = make_table("t", {family("a")});
  for (int i = 0; i < 400; ++i)
    EXPECT_OK(table_->put(Put(row(i) + std::string(30'000, 'r')).add("a", "q", "v")));
  auto scanner = table_->scan(Scan()).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table_->put(Put("row").add("a", "q", "v")));
  EXPECT_OK(table_->major_compact());
  int rows = 1;
  const auto read_to = [&](int end) {
    while (rows < end && scanner->next()) ++rows;
    return mallinfo2().uordblks;
  };
  const size_t before = read_to(100);
  const size_t after = read_to(399);
  EXPECT_LT(after, before + (1 << 20));
  EXPECT_EQ(rows, 399);
  EXPECT_GT(held(), 0u) << "the scanner could move";
}

// Flushes and other writes come at any time, several of them during one scan.
TEST_F(ScannerMoves, RandomFlushesChangeNoScan) {
  Random random(12);
  for (int round = 0; round < 40; ++round) {
    files_ = make_memory_file_system();
    fill(random.one_in(2) ? 1 : 3);
    const Scan scan = Scan().reversed(random.one_in(2)).versions(random.one_in(2) ? 1 : 3);
    for (uint64_t i = random.below(50); i-- > 0;) put(static_cast<int>(random.below(kRows)), "again");
    const Texts expected = read(scan, 0, [] {});
    Texts texts;
    auto scanner = table_->scan(scan).value();
    while (scanner->next()) {
      for (const std::string& text : cell_texts(scanner->row())) texts.push_back(text);
      if (random.one_in(60)) EXPECT_OK(engine_->flush());
      if (random.one_in(3)) put(static_cast<int>(random.below(kRows)), "later");
      if (random.one_in(9)) EXPECT_OK(table_->erase(Delete(row(static_cast<int>(random.below(kRows))))));
      if (random.one_in(150)) EXPECT_OK(table_->major_compact());
    }
    EXPECT_OK(scanner->status());
    EXPECT_EQ(texts, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace cellar::testing
