// Goal: gets of a store that is larger than its cache return what scans return. It does not matter if a row
// comes from a slice, a block or the disk.
// Method: random writes of all kinds into families of all encodings and codecs, flushes and compactions. The
// caches hold a few blocks. Each get is compared with a scan of its row, which uses no slices. Threads read
// while files are replaced. Statistics of single reads.
#include <algorithm>
#include <atomic>
#include <thread>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class RowSlicesTest : public EngineFixture {
 protected:
  static std::vector<FamilyOptions> families(Random& random) {
    const auto shaped = [&](FamilyOptions each) {
      const char* const encodings[] = {"none", "row_index_v1", "prefix", "diff", "fast_diff"};
      const char* const codecs[] = {"none", "snappy", "gz", "lz4", "zstd"};
      const char* const blooms[] = {"none", "row", "rowcol"};
      each.encoding = encodings[random.below(5)];
      each.compression = codecs[random.below(5)];
      each.bloom = blooms[random.below(3)];
      each.block_bytes = random.one_in(3) ? 16384 : 4096;
      each.in_memory = random.one_in(4);
      return each;
    };
    FamilyOptions counted = family("b", 3);
    counted.delete_order = MarkerOrder::kSequence;
    FamilyOptions kept = family("c", 2);
    kept.keep_deleted_cells = KeepDeleted::kTrue;
    FamilyOptions expiring = family("d", 2);
    expiring.ttl_s = 1;
    return {shaped(family("a")), shaped(counted), shaped(kept), shaped(expiring)};
  }

  // Reads the row by a get and by a scan.
  template <class Choose>
  void compare(Table& table, const std::string& row, const Choose& choose, const std::string& what) {
    Get get_of_row(row);
    Scan scan_of_row;
    scan_of_row.start(row).stop(row + '\0');
    choose(get_of_row);
    choose(scan_of_row);
    ReadStats stats;
    const Texts expected = scan(table, scan_of_row);
    ASSERT_EQ(get(table, get_of_row.stats(&stats)), expected) << what;
    from_cache_ += stats.rows_from_cache;
    const Result<bool> exists = table.exists(get_of_row);
    ASSERT_TRUE(exists.ok());
    ASSERT_EQ(*exists, !expected.empty()) << what;
    const std::vector<Get> twice = {get_of_row, get_of_row};
    const auto both = table.get_many(twice);
    ASSERT_TRUE(both.ok());
    for (const RowBatch& each : *both) ASSERT_EQ(cell_texts(each.row()), expected) << what;
    ReadExplanation explanation;
    ASSERT_EQ(get(table, get_of_row.explain(&explanation)), expected) << what;
  }

  void check_budget() {
    const EngineStatus status = engine_->status();
    ASSERT_LE(status.cache_used_bytes, status.cache_capacity_bytes);
  }

  uint64_t from_cache_ = 0;
};

TEST_F(RowSlicesTest, GetsReturnWhatScansReturn) {
  uint64_t tables = 0;
  for (uint64_t seed = 1; seed <= std::max<uint64_t>(4, scaled(8)); ++seed) {
    Random random(seed);
    const char* const policies[] = {"clock", "lru", "slru", "sieve", "s3fifo", "w_tinylfu", "arc"};
    open({.cache_bytes = 20'000 + random.below(100'000),
          .cache_policy = policies[random.below(7)],
          .cache_shards = 1 + static_cast<uint32_t>(random.below(2)),
          .automatic_compaction = false});
    const auto table = make_table("t" + std::to_string(++tables), families(random));
    ASSERT_NE(table, nullptr);
    const auto row = [&] { return "row" + std::to_string(1000 + random.below(random.one_in(3) ? 8 : 400)); };
    const auto name = [&] { return std::string(1, static_cast<char>('a' + random.below(4))); };
    const auto qualifier = [&] {
      return random.one_in(5) ? std::string() : "q" + std::to_string(random.below(3));
    };
    const auto time = [&] { return clock_.wall_ms() - 5 + static_cast<int64_t>(random.below(10)); };
    std::shared_ptr<const Snapshot> snapshot;
    for (int i = 0; i < 400; ++i)
      for (const char* each : {"a", "b", "c", "d"})
        EXPECT_OK(table->put(Put("row" + std::to_string(1000 + i))
                                 .add_at(each, qualifier(), time(), std::string(random.below(300), 'v'))));
    EXPECT_OK(table->flush());
    for (int step = 0; step < 1200; ++step) {
      const uint64_t what = random.below(40);
      if (what < 4) {
        const uint64_t bytes = random.one_in(20) ? random.below(20'000) : random.below(200);
        EXPECT_OK(table->put(
            Put(row()).add_at(name(), qualifier(), time(), std::to_string(step) + std::string(bytes, 'v'))));
      } else if (what == 4) {
        EXPECT_OK(table->erase(Delete(row()).column(name(), qualifier(), time())));
      } else if (what == 5) {
        EXPECT_OK(table->erase(Delete(row()).family(name(), time())));
      } else if (what == 6 && random.one_in(4)) {
        EXPECT_OK(table->flush());
      } else if (what == 7 && random.one_in(8)) {
        EXPECT_OK(random.one_in(2) ? table->major_compact() : table->compact());
      } else if (what == 8) {
        clock_.set_wall_ms(clock_.wall_ms() + static_cast<int64_t>(random.below(4)));
      } else if (what == 9 && random.one_in(4)) {
        snapshot = random.one_in(2) ? nullptr : engine_->snapshot().value();
      }
      std::vector<std::pair<std::string, std::string>> columns;
      for (uint64_t i = random.below(3); i > 0; --i) columns.emplace_back(name(), qualifier());
      const bool whole = random.one_in(3);
      const uint32_t versions = random.one_in(3) ? 1 + static_cast<uint32_t>(random.below(3)) : 0;
      const int64_t from = random.one_in(4) ? time() - 3 : 0;
      const bool at_snapshot = snapshot != nullptr && random.one_in(3);
      const auto choose = [&](auto& query) {
        for (const auto& [family, column] : columns) {
          if (whole) {
            query.family(family);
          } else {
            query.column(family, column);
          }
        }
        if (versions != 0) query.versions(versions);
        if (from != 0) query.time_range(from, from + 8);
        if (at_snapshot) query.snapshot(snapshot);
      };
      compare(*table, row(), choose, "seed " + std::to_string(seed) + ", step " + std::to_string(step));
      if (HasFatalFailure()) return;
      check_budget();
    }
    snapshot.reset();
  }
  EXPECT_GT(from_cache_, 20u) << "slices must have been used";
  count(from_cache_, "rows of files from the cache");
}

// A table of 2,000 rows in one file, most of which a cache of `bytes` does not hold.
class LargeTable : public RowSlicesTest {
 protected:
  static std::string row_of(uint64_t i) { return "row" + std::to_string(10'000 + i); }
  void fill(EngineOptions options) {
    options.automatic_compaction = false;
    open(options);
    FamilyOptions one = family("f");
    one.compression = "none";
    table_ = make_table("t", {one});
    for (uint64_t i = 0; i < kRows; ++i)
      EXPECT_OK(table_->put(Put(row_of(i)).add("f", "q", row_of(i) + std::string(80, 'v'))));
    EXPECT_OK(table_->flush());
  }
  ReadStats read(uint64_t i) {
    ReadStats stats;
    EXPECT_EQ(value_of(*table_, Get(row_of(i)).stats(&stats), "f", "q"), row_of(i) + std::string(80, 'v'));
    return stats;
  }
  void TearDown() override { table_.reset(); }

  static constexpr uint64_t kRows = 2000;
  std::shared_ptr<Table> table_;
};

TEST_F(LargeTable, StatisticsTellOfRows) {
  fill({.cache_bytes = 100'000});
  for (uint64_t i = 0; i < kRows; i += 100) read(i);
  uint64_t at = 50;
  while (at < kRows && read(at).blocks_from_disk == 0) at += 100;
  ASSERT_LT(at, kRows) << "the cache does not hold all blocks";
  const uint64_t hits = engine_->status().cache_row_hits;
  const ReadStats second = read(at);
  EXPECT_EQ(second.rows_from_cache, 1u);
  EXPECT_EQ(second.blocks_from_disk + second.blocks_from_cache + second.bloom_checks, 0u);
  EXPECT_EQ(second.data_blocks, 0u);
  EXPECT_EQ(second.files_considered, 1u);
  EXPECT_NE(to_text(second).find(", 1 cached rows,"), std::string::npos) << to_text(second);
  ReadExplanation explanation;
  get(*table_, Get(row_of(at)).explain(&explanation));
  ASSERT_EQ(explanation.sources.size(), 2u);
  EXPECT_EQ(explanation.sources.back().cost.rows_from_cache, 1u);
  EXPECT_NE(to_text(explanation).find(", cached row"), std::string::npos) << to_text(explanation);
  const EngineStatus status = engine_->status();
  EXPECT_GE(status.cache_rows, 1u);
  EXPECT_EQ(status.cache_row_hits, hits + 2);
  check_budget();
}

TEST_F(LargeTable, KeepsNoRowsWhereNoneAreWanted) {
  const auto read_all = [&] {
    for (int round = 0; round < 2; ++round)
      for (uint64_t i = 0; i < 100; ++i) read(i * 577 % kRows);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(read(7).rows_from_cache, 0u);
    EXPECT_EQ(engine_->status().cache_rows, 0u);
    EXPECT_EQ(engine_->status().cache_row_hits, 0u);
  };
  fill({.cache_bytes = 100'000, .cache_rows = false});
  read_all();
  table_.reset();
  EXPECT_OK(engine_->drop_table("t"));
  fill({.cache_bytes = 100'000, .block_trace = "trace"});
  read_all();
  table_.reset();
  EXPECT_OK(engine_->drop_table("t"));
  fill({.cache_bytes = 10 << 20});
  read_all();
}

TEST_F(LargeTable, AReadThatDoesNotFillTheCacheKeepsNoRow) {
  fill({.cache_bytes = 100'000});
  for (uint64_t i = 0; i < kRows; i += 100) read(i);
  const uint64_t rows = engine_->status().cache_rows;
  EXPECT_GT(rows, 0u);
  for (uint64_t i = 50; i < kRows; i += 100) {
    ReadStats stats;
    get(*table_, Get(row_of(i)).fill_cache(false).stats(&stats));
    get(*table_, Get(row_of(i)).fill_cache(false).stats(&stats));
    EXPECT_EQ(stats.rows_from_cache, 0u);
  }
  EXPECT_EQ(engine_->status().cache_rows, rows);
}

// Threads read rows while others are written, flushed and compacted.
TEST_F(LargeTable, ThreadsReadWhileFilesAreReplaced) {
  fill({.cache_bytes = 60'000, .memtable_bytes = 64 << 10});
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> readers;
  for (uint64_t seed = 1; seed <= 3; ++seed)
    readers.emplace_back([&, seed] {
      Random random(seed);
      while (!stop) {
        const uint64_t i = random.below(random.one_in(2) ? 30 : kRows);
        const Result<RowBatch> row = table_->get(Get(row_of(i)));
        if (!row.ok() || row->row().cells().size() != 1 ||
            !row->row().cells().front().value_bytes().starts_with(row_of(i)))
          wrong.fetch_add(1);
      }
    });
  Random random(9);
  for (uint64_t step = 0; step < scaled(60); ++step) {
    for (int i = 0; i < 100; ++i) {
      const uint64_t at = random.below(kRows);
      EXPECT_OK(table_->put(Put(row_of(at)).add("f", "q", row_of(at) + std::string(80, 'w'))));
    }
    EXPECT_OK(table_->flush());
    if (step % 4 == 3) EXPECT_OK(table_->major_compact());
    check_budget();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace cellar::testing
