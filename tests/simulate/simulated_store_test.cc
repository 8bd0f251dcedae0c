// Goal: a simulated store changes as a store of the engine. Method: hand-worked flushes and compactions.
#include "tools/simulate/simulated_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cellar::testing {
namespace {

SimulatedCell put(uint32_t row, int64_t stamp_us) { return {row, 0, stamp_us}; }
SimulatedCell marker(uint32_t row, int64_t stamp_us) { return {row, 1, stamp_us}; }

// "run/level first-last cells/deletes": a file of ten bytes a cell.
std::string text_of(const SimulatedStore& store) {
  std::string text;
  const auto number = [](const std::string& row) {
    return static_cast<int>(static_cast<uint8_t>(row.back()));
  };
  for (const StoreFileInfo& file : store.shape(0).files)
    text += fmt::format("{}{}: {}-{} {}/{}{}", text.empty() ? "" : ", ", file.level, number(file.first_row),
                        number(file.last_row), file.cells, file.deletes, file.busy ? " busy" : "");
  return text;
}

class SimulatedStores : public ::testing::Test {
 protected:
  static SimulatedRules rules() {
    return {.cell_bytes = 10, .marker_bytes = 4, .file_overhead = 3, .flush_bytes = 40};
  }
  SimulatedStore::Compaction begin(const CompactionPlan& plan) {
    auto begun = store_.begin(plan, now_us_);
    EXPECT_TRUE(begun.ok()) << begun.status().to_text();
    return begun.ok() ? *begun : SimulatedStore::Compaction();
  }

  int64_t now_us_ = 1000;
  SimulatedStore store_{rules()};
};

TEST_F(SimulatedStores, AFlushKeepsTheNewestVersion) {
  EXPECT_EQ(store_.flush({put(5, 1), put(2, 2), put(5, 3)}, now_us_), 23u);
  EXPECT_EQ(text_of(store_), "0: 2-5 2/0");
  EXPECT_EQ(store_.bytes(), 23u);
  EXPECT_EQ(store_.run_count(), 1u);
}

TEST_F(SimulatedStores, AMarkerHidesOlderPutsOfItsRowOnly) {
  store_.flush({put(1, 1), marker(1, 2), put(2, 3), marker(3, 4), put(3, 5)}, now_us_);
  EXPECT_EQ(text_of(store_), "0: 1-3 4/2");
}

TEST_F(SimulatedStores, ACompactionOfAllFilesDropsMarkers) {
  store_.flush({put(1, 1), put(2, 2)}, now_us_);
  store_.flush({marker(1, 3), put(4, 4)}, now_us_);
  const auto compaction = begin({.inputs = {1, 2}});
  EXPECT_EQ(compaction.bytes_in, 40u);
  EXPECT_EQ(compaction.bytes_out, 23u);
  EXPECT_EQ(text_of(store_), "0: 1-2 2/0 busy, 0: 1-4 2/1 busy");
  EXPECT_EQ(store_.run_count(), 1u);  // what they become
  store_.end(compaction);
  EXPECT_EQ(text_of(store_), "0: 2-4 2/0");
}

TEST_F(SimulatedStores, ACompactionOfSomeFilesKeepsMarkers) {
  store_.flush({put(1, 1)}, now_us_);
  store_.flush({put(1, 2)}, now_us_);
  store_.flush({marker(1, 3)}, now_us_);
  store_.end(begin({.inputs = {2, 3}}));
  EXPECT_EQ(text_of(store_), "0: 1-1 1/0, 0: 1-1 1/1");
}

// The run of level 1 has nothing below it, so markers go.
TEST_F(SimulatedStores, OutputJoinsARunBetweenItsFiles) {
  store_.flush({put(1, 1), put(2, 2), put(3, 3), put(4, 4), put(5, 5), put(6, 6)}, now_us_);
  store_.end(begin({.inputs = {1}, .level = 1, .file_bytes = 20}));
  EXPECT_EQ(text_of(store_), "1: 1-2 2/0, 1: 3-4 2/0, 1: 5-6 2/0");
  EXPECT_EQ(store_.run_count(), 1u);
  store_.flush({marker(3, 7), put(4, 8)}, now_us_);
  const StoreFileInfo middle = store_.shape(0).files[1];
  const uint64_t flushed = store_.shape(0).files[3].id;
  store_.end(begin({.inputs = {middle.id, flushed}, .run = middle.run, .level = 1, .file_bytes = 20}));
  EXPECT_EQ(text_of(store_), "1: 1-2 2/0, 1: 4-4 1/0, 1: 5-6 2/0");
}

TEST_F(SimulatedStores, FilesEndWhereAPlanSaysSo) {
  store_.flush({put(1, 1), put(2, 2), put(3, 3), put(4, 4)}, now_us_);
  store_.end(begin({.inputs = {1}, .level = 2, .file_starts = {simulated_row(2), simulated_row(4)}}));
  EXPECT_EQ(text_of(store_), "2: 1-1 1/0, 2: 2-3 2/0, 2: 4-4 1/0");
}

TEST_F(SimulatedStores, AMoveWritesNothing) {
  store_.flush({put(1, 1)}, now_us_);
  const auto move = begin({.inputs = {1}, .level = 3, .move = true});
  EXPECT_EQ(move.bytes_in + move.bytes_out, 0u);
  store_.end(move);
  EXPECT_EQ(text_of(store_), "3: 1-1 1/0");
  EXPECT_EQ(store_.bytes(), 13u);
}

TEST_F(SimulatedStores, ExpiredCellsGoWithTheirFileOrInACompaction) {
  SimulatedRules rules = SimulatedStores::rules();
  rules.ttl_ms = 10;
  SimulatedStore store(rules);
  store.flush({put(1, 1'000), put(2, 12'000)}, 12'000);
  EXPECT_EQ(store.shape(0).files[0].cells, 1u);
  store.flush({put(1, 20'000)}, 20'000);
  auto drop = store.begin({.inputs = {1}, .drop = true}, 23'000);
  ASSERT_TRUE(drop.ok()) << drop.status().to_text();
  store.end(*drop);
  EXPECT_EQ(store.files(), 1u);
}

TEST_F(SimulatedStores, ABusyFileIsNoInputAndALaterOneOfTheSameRowsWaits) {
  store_.flush({put(1, 1), put(9, 2)}, now_us_);
  store_.end(begin({.inputs = {1}, .level = 1, .file_bytes = 1}));
  const uint64_t run = store_.shape(0).files[0].run;
  store_.flush({put(1, 3), put(8, 4)}, now_us_);
  store_.flush({put(2, 5)}, now_us_);
  const uint64_t first = store_.shape(0).files[2].id;
  const auto running = begin({.inputs = {first, store_.shape(0).files[0].id}, .run = run, .level = 1});
  EXPECT_TRUE(store_.begin({.inputs = {first}, .level = 1}, now_us_).status().is(Code::kInvalidArgument));
  uint64_t newer = 1;
  uint64_t inputs = 0;
  store_.backlog(newer, inputs);
  EXPECT_EQ(newer, 0u);
  EXPECT_EQ(inputs, 36u);
  store_.end(running);
  EXPECT_EQ(text_of(store_), "1: 1-8 2/0, 1: 9-9 1/0, 0: 2-2 1/0");
}

TEST_F(SimulatedStores, AReadGoesToTheYoungestFileThatHasTheRow) {
  store_.flush({put(1, 1), put(9, 2)}, now_us_);
  store_.flush({put(3, 3), put(5, 4)}, now_us_);
  store_.flush({marker(5, 5)}, now_us_);
  const auto last_reads = [&] {
    std::vector<uint64_t> all;
    for (const StoreFileInfo& file : store_.shape(0).files) all.push_back(file.last_read);
    return all;
  };
  EXPECT_EQ(last_reads(), (std::vector<uint64_t>{1, 2, 3}));  // when they were new
  store_.read(4);                                             // no file has it
  EXPECT_EQ(last_reads(), (std::vector<uint64_t>{1, 2, 3}));
  store_.read(1);
  store_.read(5);
  EXPECT_EQ(last_reads(), (std::vector<uint64_t>{4, 2, 4}));
}

TEST_F(SimulatedStores, FilesTellTheirOldestMarker) {
  store_.flush({put(1, 1'000), marker(2, 9'000), marker(3, 4'000)}, now_us_);
  store_.flush({put(1, 12'000)}, now_us_);
  EXPECT_EQ(store_.shape(0).files[0].earliest_delete, 4);
  EXPECT_EQ(store_.shape(0).files[1].earliest_delete, INT64_MAX);
}

TEST_F(SimulatedStores, CountsTheRunsOfARow) {
  store_.flush({put(1, 1), put(9, 2)}, now_us_);
  store_.flush({put(3, 3), put(5, 4)}, now_us_);
  EXPECT_EQ(store_.runs_of_row(4), 2u);
  EXPECT_EQ(store_.runs_of_row(7), 1u);
  EXPECT_EQ(store_.runs_of_row(200), 0u);
}

}  // namespace
}  // namespace cellar::testing
