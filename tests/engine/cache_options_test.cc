// Goal: the blocks that a family's options request are in the cache when reads begin, and no others. Reading
// ahead never delays other work and evicts no other blocks. It survives every fate of its files. A trace of
// the cache holds the uses of reads and compactions. Method: reads that count the blocks from disk; small
// caches; damaged files; failing reads; threads.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "base/mutex.h"
#include "base/random.h"
#include "cache/block_trace.h"
#include "cellar/hfile_builder.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr int kRows = 4000;  // one a block, and more blocks than the root of an index leads to

std::string row_of(int i) { return "row" + std::to_string(10000 + i); }

// Keeps the warnings and errors of the log.
class Listening final : public Logger {
 public:
  void log(LogLevel level, std::string_view, std::string_view text) override {
    const MutexLock lock(mutex_);
    if (level >= LogLevel::kWarning) texts_ += std::string(text) + "\n";
  }
  std::string texts() {
    const MutexLock lock(mutex_);
    return texts_;
  }

 private:
  Mutex mutex_;
  std::string texts_;
};

// Real threads, and how many jobs of low priority they were given.
class CountingExecutor final : public Executor {
 public:
  void submit(JobPriority priority, std::function<void()> job) override {
    if (priority == JobPriority::kLow) ++low_jobs;
    threads_->submit(priority, std::move(job));
  }
  void submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) override {
    threads_->submit_later(priority, delay_us, std::move(job));
  }
  void checkpoint() override { threads_->checkpoint(); }
  std::unique_ptr<Event> make_event() override { return threads_->make_event(); }

  std::atomic<uint64_t> low_jobs{0};

 private:
  std::unique_ptr<Executor> threads_ = make_thread_executor(1, 1);
};

class CacheOptionsTest : public EngineFixture {
 protected:
  void SetUp() override { faults_ = &watch_files(); }
  void TearDown() override {
    table_.reset();
    engine_.reset();  // before the log and the executor that it borrows
  }

  static FamilyOptions plain(const std::string& name) {
    FamilyOptions options = family(name);
    options.block_bytes = 1024;
    options.compression = "none";
    return options;
  }
  static FamilyOptions prefetched(const std::string& name) {
    FamilyOptions options = plain(name);
    options.prefetch_on_open = true;
    return options;
  }

  // Compacts on request only.
  void open_store(uint64_t cache_bytes = 64 << 20, bool read_only = false) {
    table_.reset();
    EngineOptions options;
    options.automatic_compaction = false;
    options.cache_bytes = cache_bytes;
    options.cache_shards = 1;
    options.read_only = read_only;
    options.environment.log = &log_;
    options.environment.executor = executor_;
    open(options);
    if (auto table = engine_->open_table("t"); table.ok()) table_ = table.value();
  }
  void make(std::vector<FamilyOptions> families) { table_ = make_table("t", std::move(families)); }

  void fill(const std::string& name, int rows = kRows, int step = 1) {
    Random random(7);
    for (int i = 0; i < rows; ++i) {
      std::string value(1000, 'v');
      value[random.below(value.size())] = 'w';
      ASSERT_TRUE(table_->put(Put(row_of(i * step)).add_at(name, "q", 1, value)).ok());
    }
  }
  void fill_and_flush(const std::string& name, int rows = kRows) {
    fill(name, rows);
    EXPECT_OK(table_->flush());
    EXPECT_OK(engine_->wait_for_background());
  }

  // Blocks that a get, or a scan that leaves the cache alone, read from the disk.
  uint64_t get_costs(const std::string& name, int row = kRows / 2) {
    ReadStats stats;
    EXPECT_EQ(get(*table_, Get(row_of(row)).column(name, "q").stats(&stats)).size(), 1u) << name;
    return stats.blocks_from_disk;
  }
  uint64_t scan_costs(const std::string& name) {
    ReadStats stats;
    scan(*table_, Scan().family(name).fill_cache(false).stats(&stats));
    EXPECT_GT(stats.cells_returned, 0u) << name;
    return stats.blocks_from_disk;
  }
  uint64_t reads() const { return faults_->count(FileOperation::kRead, "tables/*"); }
  Status alter(const FamilyOptions& options) {
    return engine_->alter_table("t", {.set_families = {options}});
  }

  FaultFileSystem* faults_ = nullptr;
  Listening log_;
  Executor* executor_ = nullptr;  // null: the engine's own
  std::shared_ptr<Table> table_;
};

// ---- On write ----

TEST_F(CacheOptionsTest, WhatAFlushWritesIsInTheCacheWhenAskedFor) {
  open_store();
  FamilyOptions data = plain("data");
  data.cache_data_on_write = true;
  data.cache_blocks = false;  // makes no difference to writes
  FamilyOptions index = plain("index");
  index.cache_index_on_write = true;
  FamilyOptions blooms = plain("blooms");
  blooms.cache_blooms_on_write = true;
  make({plain("none"), data, index, blooms});
  for (const char* name : {"none", "data", "index", "blooms"}) fill_and_flush(name);
  EXPECT_EQ(get_costs("none"), 3u) << "a filter's chunk, a node of the index and the block";
  EXPECT_EQ(get_costs("index"), 2u);
  EXPECT_EQ(get_costs("blooms"), 2u);
  EXPECT_EQ(get_costs("data"), 0u);
  EXPECT_EQ(scan_costs("data"), 0u);
  EXPECT_EQ(scan_costs("index"), static_cast<uint64_t>(kRows) - 1) << "all but the block of the get";
}

TEST_F(CacheOptionsTest, ACompactionsIndexAndFiltersAreButNotItsData) {
  open_store();
  FamilyOptions data = plain("data");
  data.cache_data_on_write = true;
  FamilyOptions all = data;
  all.name = "all";
  all.cache_index_on_write = all.cache_blooms_on_write = true;
  make({data, all});
  for (const char* name : {"data", "all"})
    for (int round = 0; round < 2; ++round) fill_and_flush(name);
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(engine_->status().store_files, 2u);
  EXPECT_EQ(get_costs("data"), 3u);
  EXPECT_EQ(get_costs("all"), 1u);
}

TEST_F(CacheOptionsTest, AFlushDoesNotDriveOutWhatItPutIntoASmallCache) {
  constexpr uint64_t kCapacity = 1 << 20;
  open_store(kCapacity);
  FamilyOptions data = plain("data");
  data.cache_data_on_write = true;
  make({data, plain("other")});
  fill_and_flush("other", 800);
  scan(*table_, Scan().family("other"));
  fill_and_flush("data");
  EXPECT_GT(scan_costs("other"), 100u) << "others make room for it";
  EXPECT_EQ(get_costs("data", 3), 0u);
  EXPECT_GT(scan_costs("data"), static_cast<uint64_t>(kRows) / 2);
  EXPECT_LE(engine_->status().cache_used_bytes, kCapacity);
}

TEST_F(CacheOptionsTest, WhatCannotBeReadBackDoesNotCount) {
  open_store();
  FamilyOptions data = plain("data");
  data.cache_data_on_write = true;
  make({plain("none"), data});
  const uint64_t at_first = reads();
  fill_and_flush("none");
  const uint64_t usual = reads() - at_first;
  fill("data");
  faults_->fail(FileOperation::kRead, "tables/*", usual + 2);
  const Status failed = table_->flush();
  EXPECT_TRUE(failed.is(Code::kIoError)) << failed.to_text();
  EXPECT_EQ(engine_->status().store_files, 1u);
  EXPECT_OK(table_->flush());
  EXPECT_EQ(engine_->status().store_files, 2u);
  EXPECT_EQ(scan_costs("data"), 0u);
  EXPECT_EQ(scan(*table_, Scan().family("data")).size(), static_cast<size_t>(kRows));
}

// ---- Prefetch ----

TEST_F(CacheOptionsTest, FilesAreReadIntoTheCacheOnceTheyAreOpen) {
  open_store();
  make({plain("cold"), prefetched("warm")});
  for (const char* name : {"cold", "warm"}) fill_and_flush(name);
  EXPECT_EQ(get_costs("cold"), 3u);
  EXPECT_EQ(get_costs("warm"), 0u) << "after a flush";
  EXPECT_EQ(scan_costs("warm"), 0u);
  for (const char* name : {"cold", "warm"}) fill_and_flush(name);
  EXPECT_OK(table_->major_compact());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(get_costs("cold"), 3u);
  EXPECT_EQ(scan_costs("warm"), 0u) << "after a compaction";
  for (const bool read_only : {false, true}) {
    open_store(64 << 20, read_only);
    EXPECT_OK(engine_->wait_for_background());
    EXPECT_EQ(get_costs("cold"), 3u);
    EXPECT_EQ(get_costs("warm"), 0u) << "after opening the store";
    EXPECT_EQ(scan_costs("warm"), 0u);
  }
  EXPECT_EQ(log_.texts(), "");
}

TEST_F(CacheOptionsTest, AdoptedAndRestoredFilesAreToo) {
  open_store();
  make({prefetched("warm")});
  ASSERT_TRUE(files_->open_directory("in", true).ok());
  HFileBuilderOptions building;
  building.block_bytes = 1024;
  auto builder = HFileBuilder::create(*files_, "in/file", building);
  ASSERT_TRUE(builder.ok());
  for (int i = 0; i < kRows; ++i)
    EXPECT_OK(builder->add({row_of(i), "warm", "q", 1, CellType::kPut, std::string(1000, 'v')}));
  EXPECT_OK(builder->finish().status());
  IngestRequest request;
  request.files = {{"warm", "in/file"}};
  EXPECT_OK(table_->ingest(request).status());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(scan_costs("warm"), 0u);
  EXPECT_OK(engine_->named_snapshots().create("s", {}).status());
  EXPECT_OK(engine_->truncate_table("t"));
  EXPECT_OK(engine_->named_snapshots().restore("s"));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(scan_costs("warm"), 0u);
}

TEST_F(CacheOptionsTest, NothingIsReadAheadWhereReadsWouldNotFillTheCache) {
  open_store();
  FamilyOptions uncached = prefetched("uncached");
  uncached.cache_blocks = false;
  make({prefetched("warm"), uncached});
  fill_and_flush("uncached");
  EXPECT_EQ(get_costs("uncached"), 3u);
  EXPECT_OK(engine_->drop_table("t"));
  open_store(0);
  make({plain("cold"), prefetched("warm")});
  const uint64_t at_first = reads();
  fill_and_flush("cold");
  const uint64_t usual = reads() - at_first;
  faults_->clear_log();
  fill_and_flush("warm");
  EXPECT_EQ(reads(), usual) << "there is no cache";
}

TEST_F(CacheOptionsTest, AFullCacheEndsItAndNobodyIsEvicted) {
  constexpr uint64_t kCapacity = 3 << 20;
  open_store(kCapacity);
  make({plain("first"), plain("second")});
  fill_and_flush("first", 800);
  fill_and_flush("second");
  scan(*table_, Scan().family("first"));
  EXPECT_EQ(scan_costs("first"), 0u);
  const uint64_t used = engine_->status().cache_used_bytes;
  EXPECT_LT(used, kCapacity / 2);
  EXPECT_OK(alter(prefetched("second")));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(scan_costs("first"), 0u) << "all of it is still there";
  EXPECT_EQ(get_costs("second", 1), 0u);
  EXPECT_GT(engine_->status().cache_used_bytes, kCapacity / 10 * 9);
  EXPECT_LE(engine_->status().cache_used_bytes, kCapacity);
  EXPECT_GT(scan_costs("second"), 0u);
}

TEST_F(CacheOptionsTest, ItIsSwitchedOnAndOff) {
  open_store(8 << 20);
  make({plain("f"), plain("other")});
  fill_and_flush("f");
  EXPECT_EQ(get_costs("f"), 3u);
  EXPECT_OK(alter(prefetched("f")));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(scan_costs("f"), 0u) << "what was there is read, too";
  EXPECT_OK(alter(plain("f")));
  fill("f", 1);
  EXPECT_OK(table_->flush());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(scan_costs("f"), 1u) << "the new block";
  fill_and_flush("other");
  for (int round = 0; round < 2; ++round) scan(*table_, Scan().family("other"));
  EXPECT_GT(scan_costs("f"), 1u) << "others have driven it out";
  EXPECT_OK(engine_->alter_table("t", {.remove_families = {"other"}}));
  EXPECT_OK(alter(prefetched("f")));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(scan_costs("f"), 0u) << "it is read anew";
}

TEST_F(CacheOptionsTest, ItGivesWayToOtherJobs) {
  CountingExecutor executor;
  executor_ = &executor;
  open_store();
  make({plain("f")});
  fill_and_flush("f");
  const uint64_t before = executor.low_jobs;
  EXPECT_OK(alter(prefetched("f")));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(scan_costs("f"), 0u);
  EXPECT_GE(executor.low_jobs - before, static_cast<uint64_t>(kRows) / 64);
  TearDown();
}

TEST_F(CacheOptionsTest, ADamagedBlockIsAWarningAndTheRestIsReadAsBefore) {
  open_store();
  make({plain("f")});
  fill_and_flush("f");
  const std::string id = std::to_string(table_->info().id);
  EXPECT_OK(engine_->close());
  auto directory = memory_->open_directory("store/tables/" + id + "/f", false);
  ASSERT_TRUE(directory.ok()) << directory.status().to_text();
  const std::string name = (*directory)->list().value().at(0).name;
  auto file = (*directory)->open(name).value();
  std::string bytes(file->size(), '\0');
  ASSERT_TRUE(file->read(0, bytes.size(), bytes.data()).ok());
  file.reset();
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE((*directory)->unlink(name).ok());
  auto again = (*directory)->create(name, {}).value();
  ASSERT_TRUE(again->append(bytes).ok() && again->close().ok());

  open_store();
  EXPECT_EQ(log_.texts(), "");
  EXPECT_OK(alter(prefetched("f")));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_NE(log_.texts().find("is not prefetched: corruption"), std::string::npos) << log_.texts();
  EXPECT_NE(log_.texts().find(name), std::string::npos) << log_.texts();
  EXPECT_OK(engine_->status().health);
  EXPECT_EQ(get_costs("f", 1), 0u) << "what came before was read";
  int damaged = 0;
  for (int i = 0; i < kRows; ++i) {
    const auto row = table_->get(Get(row_of(i)).column("f", "q"));
    if (!row.ok()) {
      EXPECT_TRUE(row.status().is(Code::kCorruption)) << row.status().to_text();
      ++damaged;
      continue;
    }
    EXPECT_EQ(row->row().cells().size(), 1u);
  }
  EXPECT_EQ(damaged, 1);
}

TEST_F(CacheOptionsTest, ReadsThatFailAreAWarning) {
  open_store();
  make({plain("f")});
  fill_and_flush("f");
  faults_->inject({.on = FileOperation::kRead, .name = "tables/*", .nth = 9});
  EXPECT_OK(alter(prefetched("f")));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(faults_->struck(), 1u);
  EXPECT_NE(log_.texts().find("is not prefetched: io_error"), std::string::npos) << log_.texts();
  EXPECT_EQ(get_costs("f", 1), 0u);
  EXPECT_GT(scan_costs("f"), 0u);
  EXPECT_OK(table_->put(Put("r").add("f", "q", "v")));
}

// ---- Threads ----

TEST_F(CacheOptionsTest, AStoreCanBeClosedWhileItIsRead) {
  open_store();
  make({prefetched("a"), prefetched("b")});
  for (const char* name : {"a", "b"}) fill_and_flush(name);
  for (int round = 0; round < 20; ++round) {
    open_store(64 << 20, round % 2 == 1);
    if (round % 3 == 0) get_costs("a");
    table_.reset();
    EXPECT_OK(engine_->close());
    const uint64_t closed_at = reads();
    engine_.reset();
    EXPECT_EQ(reads(), closed_at) << "nobody reads a closed store";
  }
  open_store();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(scan_costs("a") + scan_costs("b"), 0u);
}

TEST_F(CacheOptionsTest, FilesComeAndGoWhileTheyAreRead) {
  open_store(1 << 20);
  make({prefetched("f")});
  const int rounds = static_cast<int>(scaled(30));
  std::thread altering([&] {
    for (int i = 0; i < rounds; ++i) {
      FamilyOptions options = i % 2 == 0 ? plain("f") : prefetched("f");
      options.cache_data_on_write = i % 3 == 0;
      EXPECT_OK(alter(options));
      EXPECT_OK(i % 2 == 0 ? table_->major_compact() : table_->compact());
    }
  });
  std::thread dropping([&] {
    for (int i = 0; i < rounds; ++i) {
      const auto passing = engine_->create_table("passing", {.families = {prefetched("g")}});
      ASSERT_TRUE(passing.ok()) << passing.status().to_text();
      for (int k = 0; k < 200; ++k)
        EXPECT_OK((*passing)->put(Put(row_of(k)).add("g", "q", std::string(1000, 'v'))));
      EXPECT_OK((*passing)->flush());
      if (i % 4 == 0) EXPECT_OK(engine_->truncate_table("passing"));
      EXPECT_OK(engine_->drop_table("passing"));
    }
  });
  for (int i = 0; i < rounds; ++i) {
    fill("f", 200, 1 + i % 3);
    EXPECT_OK(table_->flush());
    EXPECT_EQ(get(*table_, Get(row_of(0))).size(), 1u);
  }
  altering.join();
  dropping.join();
  EXPECT_OK(alter(plain("f")));
  EXPECT_OK(table_->major_compact());
  EXPECT_OK(alter(prefetched("f")));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(engine_->status().store_files, 1u);
  EXPECT_EQ(scan_costs("f"), 0u);
  EXPECT_EQ(log_.texts(), "");
}

// ---- The trace of the cache ----

constexpr int kTracedRows = 50;

std::string traced_row(int i) { return "row" + std::to_string(100 + i); }

class BlockTraces : public EngineFixture {
 protected:
  void start(EngineOptions options) {
    options.automatic_compaction = false;
    open(std::move(options));
    FamilyOptions one = family("f");
    one.block_bytes = 1024;
    one.compression = "none";
    table_ = make_table("t", {one});
  }
  void TearDown() override { table_.reset(); }

  void fill() const {
    for (int i = 0; i < kTracedRows; ++i)
      EXPECT_OK(table_->put(Put(traced_row(i)).add("f", "q", std::string(1100, 'v'))));
    EXPECT_OK(engine_->flush());
  }
  void close() {
    hits_ = engine_->status().cache_hits;
    misses_ = engine_->status().cache_misses;
    table_.reset();
    EXPECT_OK(engine_->close());
    engine_.reset();
  }

  std::map<BlockUseKind, uint64_t> counts_of(const std::string& path, BlockTraceStart* start = nullptr) {
    std::map<BlockUseKind, uint64_t> counts;
    auto reader = BlockTraceReader::open(files_->open_file(path).value(), path);
    EXPECT_OK(reader.status());
    if (!reader.ok()) return counts;
    std::vector<BlockUse> uses;
    while (true) {
      const Result<bool> more = (*reader)->next(uses);
      EXPECT_OK(more.status());
      if (!more.ok() || !*more) break;
      for (const BlockUse& use : uses) ++counts[use.kind];
    }
    EXPECT_TRUE((*reader)->whole());
    if (start != nullptr) *start = (*reader)->start();
    return counts;
  }

  std::shared_ptr<Table> table_;
  uint64_t hits_ = 0;  // that the cache counted until close()
  uint64_t misses_ = 0;
};

TEST_F(BlockTraces, HoldTheUsesOfReads) {
  start({.cache_bytes = 1 << 20, .cache_policy = "sieve", .cache_shards = 2, .block_trace = "trace"});
  fill();
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < kTracedRows; ++i) EXPECT_EQ(get(*table_, Get(traced_row(i))).size(), 1U);
  close();
  BlockTraceStart begun;
  auto counts = counts_of("trace", &begun);
  EXPECT_EQ(counts[BlockUseKind::kMiss], static_cast<uint64_t>(kTracedRows));
  EXPECT_EQ(counts[BlockUseKind::kMiss], misses_);
  EXPECT_GE(counts[BlockUseKind::kHit], 2U * kTracedRows);
  EXPECT_EQ(counts[BlockUseKind::kHit], hits_);
  EXPECT_EQ(counts[BlockUseKind::kPassed], 0U);
  EXPECT_EQ(counts[BlockUseKind::kClosed], 1U);
  EXPECT_EQ(begun.capacity_bytes, 1U << 20);
  EXPECT_EQ(begun.shards, 2U);
  EXPECT_EQ(begun.policy, "sieve");
}

// A compaction reads through the cache and does not fill it, and closes the files that it replaces.
TEST_F(BlockTraces, HoldTheUsesOfCompactions) {
  start({.block_trace = "trace"});
  fill();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(get(*table_, Get(traced_row(i))).size(), 1U);
  fill();
  EXPECT_OK(table_->major_compact());
  close();
  auto counts = counts_of("trace");
  EXPECT_GE(counts[BlockUseKind::kMiss], 10U);
  EXPECT_LT(counts[BlockUseKind::kMiss], 20U) << "the compaction does not fill the cache";
  EXPECT_GE(counts[BlockUseKind::kHit] + counts[BlockUseKind::kPassed], 2U * kTracedRows);
  EXPECT_EQ(counts[BlockUseKind::kHit], hits_);
  EXPECT_EQ(counts[BlockUseKind::kMiss] + counts[BlockUseKind::kPassed], misses_);
  EXPECT_EQ(counts[BlockUseKind::kClosed], 3U);
}

TEST_F(BlockTraces, NeedAPlaceOutsideOfTheStore) {
  const auto refused = [&](const std::string& trace) {
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    options.block_trace = trace;
    return Engine::open("store", options).status();
  };
  EXPECT_EQ(refused("store/trace").code(), Code::kInvalidArgument);
  EXPECT_EQ(refused("nowhere/trace").code(), Code::kNotFound);
  EXPECT_OK(refused("trace"));
  EXPECT_EQ(refused("trace").code(), Code::kInvalidArgument) << "the file exists";
}

// The engine's answer to close() tells that the trace could not be written.
TEST_F(BlockTraces, ReportAFullDiskWhenTheEngineIsClosed) {
  FaultFileSystem& faults = watch_files();
  start({.block_trace = "trace"});
  fill();
  for (int i = 0; i < kTracedRows; ++i) EXPECT_EQ(get(*table_, Get(traced_row(i))).size(), 1U);
  faults.fail(FileOperation::kAppend, "trace", 0, Code::kNoSpace);
  table_.reset();
  const Status status = engine_->close();
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_NE(status.to_text().find("block trace trace"), std::string::npos) << status.to_text();
}

}  // namespace
}  // namespace cellar::testing
