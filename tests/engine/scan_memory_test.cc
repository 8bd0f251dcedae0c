// Goal: scanners use memory that their thread kept from earlier scans, and nobody sees a difference. Rows,
// bounds and limits are exact. The kept memory holds no file, no view and no block.
// Method: scans of random bounds are compared with a list of all rows. Many scanners live at once, and end in
// any order on any thread. A compaction replaces files while threads that scanned them are idle.
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

constexpr int kScanned = 300;

class ScanMemory : public EngineFixture {
 protected:
  static std::string row_at(int i) { return "a row whose key is long " + std::to_string(1000 + i); }

  // Rows of one cell; every 20th has 50, so that spans end inside of it.
  void fill() {
    if (engine_ == nullptr) open({.automatic_compaction = false});
    FamilyOptions options = family("f");
    options.block_bytes = 4096;
    table_ = make_table("t", {options});
    for (int i = 0; i < kScanned; ++i) {
      Put put(row_at(i));
      for (int q = 0; q < (i % 20 == 7 ? 50 : 1); ++q) put.add("f", "q" + std::to_string(q), "v");
      EXPECT_OK(table_->put(put));
    }
    EXPECT_OK(table_->flush());
    EXPECT_OK(table_->major_compact());
    EXPECT_OK(engine_->wait_for_background());
  }
  static Texts rows_of(Scanner& scanner) {
    Texts rows;
    while (scanner.next()) rows.emplace_back(scanner.row().row());
    EXPECT_OK(scanner.status());
    return rows;
  }
  Texts rows_of(const Scan& scan) { return rows_of(*table_->scan(scan).value()); }
  size_t files_on_disk() {
    const std::string path = "store/tables/" + std::to_string(table_->info().id) + "/f";
    return files_->open_directory(path, false).value()->list().value().size();
  }

  std::shared_ptr<Table> table_;
};

TEST_F(ScanMemory, BoundsAndLimitsAreExact) {
  fill();
  Texts all;
  for (int i = 0; i < kScanned; ++i) all.push_back(row_at(i));
  ASSERT_EQ(rows_of(Scan()), all);
  Random random(20);
  for (int round = 0; round < 2000; ++round) {
    // A bound is a row, or lies between two.
    const auto bound = [&] {
      return row_at(static_cast<int>(random.below(kScanned))) + (random.one_in(3) ? "x" : "");
    };
    const bool reversed = random.one_in(3);
    const std::string start = random.one_in(4) ? "" : bound();
    const std::string stop = random.one_in(4) ? "" : bound();
    const bool with_start = random.one_in(2);
    const bool with_stop = random.one_in(2);
    const uint64_t limit = random.one_in(2) ? 0 : random.below(80);
    Texts expected;
    for (int i = 0; i < kScanned; ++i) {
      const std::string& row = all[static_cast<size_t>(reversed ? kScanned - 1 - i : i)];
      const int from = start.empty() ? 1 : reversed ? start.compare(row) : row.compare(start);
      const int until = stop.empty() ? -1 : reversed ? stop.compare(row) : row.compare(stop);
      if (from < 0 || (from == 0 && !with_start) || until > 0 || (until == 0 && !with_stop)) continue;
      if (limit == 0 || expected.size() < limit) expected.push_back(row);
    }
    Scan scan;
    scan.start(start, with_start).stop(stop, with_stop).limit(limit).reversed(reversed);
    ASSERT_EQ(rows_of(scan), expected) << "round " << round;
    ReadStats stats;
    ASSERT_EQ(rows_of(scan.stats(&stats)), expected) << "round " << round;
    EXPECT_EQ(stats.rows_returned, expected.size());
    EXPECT_EQ(stats.rows_scanned, expected.size());
  }
}

TEST_F(ScanMemory, RowsOverTheLimitAreRefusedWhereverTheyLie) {
  open({.automatic_compaction = false, .row_bytes_max = 1000});
  fill();
  const auto scanner = table_->scan(Scan()).value();
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(scanner->next());
    EXPECT_OK(scanner->status());
  }
  EXPECT_FALSE(scanner->next());
  EXPECT_TRUE(scanner->status().is(Code::kLimit)) << scanner->status().to_text();
  EXPECT_EQ(rows_of(Scan().start(row_at(8)).limit(19)).size(), 19u);
}

TEST_F(ScanMemory, ScannersAtOnceDoNotDisturbEachOther) {
  fill();
  const Texts all = rows_of(Scan());
  std::vector<std::unique_ptr<Scanner>> scanners;
  for (int round = 0; round < 5; ++round) {
    while (scanners.size() < 40) {
      const size_t at = scanners.size();
      scanners.push_back(table_->scan(Scan().start(all[at]).column("f", "q0")).value());
    }
    for (size_t step = 0; step < 50; ++step)
      for (size_t at = 0; at < scanners.size(); ++at) {
        ASSERT_TRUE(scanners[at]->next());
        ASSERT_EQ(scanners[at]->row().row(), all[at + step]);
      }
    for (size_t at = static_cast<size_t>(round); at < scanners.size(); at += 2) scanners[at].reset();
    std::thread([&] { scanners.clear(); }).join();
    EXPECT_EQ(rows_of(Scan()), all);
  }
}

TEST_F(ScanMemory, AScannerOutlivesTheThreadThatOpenedIt) {
  fill();
  const Texts all = rows_of(Scan());
  std::unique_ptr<Scanner> scanner;
  std::thread([&] {
    EXPECT_EQ(rows_of(Scan().limit(10)).size(), 10u);
    scanner = table_->scan(Scan()).value();
    EXPECT_TRUE(scanner->next());
  }).join();
  EXPECT_EQ(scanner->row().row(), all[0]);
  EXPECT_EQ(rows_of(*scanner), Texts(all.begin() + 1, all.end()));
  EXPECT_TRUE(engine_->close().is(Code::kBusy));
  scanner.reset();
  table_.reset();
  EXPECT_OK(engine_->close());
}

TEST_F(ScanMemory, IdleThreadsKeepNoFile) {
  fill();
  std::latch read(4);
  std::latch leave(1);
  std::vector<std::thread> threads;
  const auto read_all_ways = [&] {
    for (const bool reversed : {false, true}) rows_of(Scan().reversed(reversed));
    const auto unfinished = table_->scan(Scan().column("f", "q0")).value();
    EXPECT_TRUE(unfinished->next());
    get(*table_, Get(row_at(3)));
  };
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      read_all_ways();
      read.count_down();
      leave.wait();
    });
  read_all_ways();
  auto open = table_->scan(Scan()).value();
  read.wait();
  EXPECT_EQ(files_on_disk(), 1u);
  EXPECT_OK(table_->put(Put(row_at(0)).add("f", "q0", "new")));
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->major_compact());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(files_on_disk(), 2u) << "the open scanner holds the old file";
  rows_of(*open);
  open.reset();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(files_on_disk(), 1u) << "five threads are idle";
  leave.count_down();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace cellar::testing
