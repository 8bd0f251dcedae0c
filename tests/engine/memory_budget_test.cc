// Goal: one figure tells the memory of an engine, and it is right. Memtables that readers keep after their
// flush count towards memtable_bytes_total, and writers are never stuck because of them.
// Method: what the engine reports is compared with what the allocators have given out, and with the memory
// of the process. The store lies in real files, because the files of a memory file system would count too.
// Scanners, snapshots and rows keep memtables while the store is flushed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/block_heap.h"
#include "base/pages.h"
#include "base/random.h"
#include "base/recycled.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/address_space.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/scratch_directory.h"

namespace cellar::testing {
namespace {

class MemoryBudget : public EngineFixture {
 protected:
  static constexpr uint64_t kTotal = 1 << 20;

  static EngineOptions small_memory() {
    EngineOptions options;
    options.memtable_bytes = 128 << 10;
    options.memtable_bytes_total = kTotal;
    options.stall_ms_max = 500;
    return options;
  }
  void put(const std::string& row, size_t bytes) {
    EXPECT_OK(table_->put(Put(row).add("f", "q", std::string(bytes, 'v'))));
  }
  void put_rows(int rows, size_t bytes) {
    for (int i = 0; i < rows; ++i) put("r" + std::to_string(1'000'000 + next_++), bytes);
  }
  uint64_t held() { return engine_->status().memtable_held_bytes; }
  // Bytes of all memtables, in use by the store or by readers.
  uint64_t memtables() {
    const EngineStatus status = engine_->status();
    return status.memtable_bytes + status.memtable_held_bytes;
  }

  std::shared_ptr<Table> table_;
  int next_ = 0;
};

TEST_F(MemoryBudget, AMemtableThatAReaderKeepsAfterItsFlushCounts) {
  open(small_memory());
  table_ = make_table("t", {family("f")});
  put_rows(50, 1000);
  const uint64_t before = engine_->status().memtable_bytes;
  ASSERT_GT(before, 50'000u);
  auto scanner = table_->scan(Scan()).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_EQ(held(), 0u) << "it is not flushed yet";
  EXPECT_OK(engine_->flush());
  EXPECT_EQ(held(), before);
  EXPECT_EQ(engine_->status().memtable_bytes, 0u);
  scanner.reset();
  EXPECT_EQ(held(), 0u);

  // A returned row pins its memtable as well.
  put_rows(1, 1000);
  RowBatch batch = table_->get(Get("r1000050")).value();
  ASSERT_FALSE(batch.empty());
  EXPECT_OK(engine_->flush());
  EXPECT_GT(held(), 0u);
  batch.clear();
  EXPECT_EQ(held(), 0u);
}

TEST_F(MemoryBudget, ATableThatIsDroppedOrEmptiedCountsWhileAReaderKeepsIt) {
  open(small_memory());
  for (const bool drops : {true, false}) {
    table_ = make_table("t", {family("f")});
    put_rows(50, 1000);
    const uint64_t before = engine_->status().memtable_bytes;
    auto scanner = table_->scan(Scan()).value();
    EXPECT_OK(drops ? engine_->drop_table("t") : engine_->truncate_table("t"));
    EXPECT_EQ(held(), before);
    scanner.reset();
    table_.reset();
    EXPECT_EQ(held(), 0u) << drops;
  }
}

// The recovery writes full memtables to files before it has read the whole log. The memory of every cell is
// counted once, and given back once: whatever the number of cells of a record.
TEST_F(MemoryBudget, ARecoveryThatWritesFilesLeavesNoMemoryCounted) {
  auto crashing = std::make_unique<CrashFileSystem>();
  const CrashFileSystem& files = *crashing;
  files_ = std::move(crashing);
  EngineOptions options = small_memory();
  options.memtable_bytes = kTotal;
  open(options);
  table_ = make_table("t", {family("f"), family("g")});
  for (int i = 0; i < 2000; ++i) {
    Put more(fmt::format("r{:05}", i * 7919 % 10'007));
    for (int k = 0; k <= i / 400; ++k)
      more.add(i % 3 == 0 ? "g" : "f", std::to_string(k), std::string(150, 'v'));
    EXPECT_OK(table_->put(std::move(more)));
  }
  ASSERT_GT(engine_->status().memtable_bytes, 300'000u) << "the log must hold more than small memtables do";
  const Texts before = scan(*table_, Scan());
  const std::unique_ptr<FileSystem> image = files.image(CrashMode::kProcessKilled);
  options.memtable_bytes = 16 << 10;
  options.environment.files = image.get();
  options.environment.clock = &clock_;
  auto recovered = Engine::open("store", options);
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_text();
  EXPECT_EQ((*recovered)->status().memtable_bytes, 0u);
  const auto table = (*recovered)->open_table("t");
  ASSERT_TRUE(table.ok()) << table.status().to_text();
  EXPECT_EQ(scan(**table, Scan()), before);
  EXPECT_OK((*table)->put(Put("r").add("f", "q", std::string(100, 'v'))));
  const uint64_t after = (*recovered)->status().memtable_bytes;
  EXPECT_TRUE(after > 100 && after < 200'000) << after;
}

// The thread that writes also holds the scanners, so that nobody would wake it.
TEST_F(MemoryBudget, WritersGoOnBesideIdleScannersWithinTheBudget) {
  open(small_memory());
  table_ = make_table("t", {family("f")});
  std::vector<std::unique_ptr<Scanner>> idle;
  for (int round = 0; round < 12; ++round) {
    put_rows(80, 1000);
    idle.push_back(table_->scan(Scan()).value());
    EXPECT_OK(engine_->flush());
    EXPECT_LE(memtables(), kTotal + (128 << 10));
  }
  EXPECT_GT(held(), kTotal * 7 / 8) << "too little for this test";
  put_rows(1000, 1000);
  EXPECT_LE(engine_->status().memtable_bytes, kTotal / 8 + 1000) << "an eighth is left to writers";
  idle.clear();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(held(), 0u);
}

TEST_F(MemoryBudget, WritersWaitForReadersThatHoldTwiceTheBudgetAndAreTold) {
  const ScratchDirectory scratch;
  EngineOptions options = small_memory();
  options.create_if_missing = true;
  options.stall_ms_max = 60'000;
  options.automatic_compaction = false;
  auto real = Engine::open(scratch.path() + "/store", options).value();
  auto table = real->create_table("t", {.families = {family("f")}}).value();
  const auto write = [&](int row) {
    return table->put(Put("r" + std::to_string(row)).add("f", "q", std::string(20'000, 'v')));
  };
  std::vector<std::unique_ptr<Scanner>> idle;
  int row = 0;
  while (real->status().memtable_held_bytes < 2 * kTotal) {
    EXPECT_OK(write(++row));
    idle.push_back(table->scan(Scan()).value());
    EXPECT_OK(real->flush());
  }
  std::thread writer([&] { EXPECT_OK(write(++row)); });
  while (real->status().stalls == 0) std::this_thread::yield();
  EXPECT_NE(real->status().health.to_text().find("open scanners, snapshots or batches of rows hold"),
            std::string::npos)
      << real->status().health.to_text();
  idle.clear();
  writer.join();
  EXPECT_EQ(real->status().memtable_held_bytes, 0u);
  table.reset();
  EXPECT_OK(real->close());
}

TEST_F(MemoryBudget, AClosedEngineKeepsNoSpareBlocks) {
  constexpr uint64_t kKept = kKeepsMemory ? 3 << 20 : 0;  // AddressSanitizer gets all memory back at once
  // The heap of cached blocks keeps its regions.
  const auto taken = [] { return bytes_of_pages() - BlockHeap::shared().stats().mapped; };
  const uint64_t before = taken();
  open({.memtable_bytes = 3 << 20});
  table_ = make_table("t", {family("f")});
  put_rows(10'000, 1000);
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(engine_->status().memtable_spare_bytes, kKept) << "no more than one memtable may take";
  EXPECT_EQ(taken(), before + kKept);
  put_rows(10, 1000);
  EXPECT_OK(engine_->close());
  EXPECT_EQ(SparePages::bytes(), 0u) << "although a handle of the table is left";
  EXPECT_EQ(taken(), before);
}

// mallinfo2() does not know what a sanitizer's allocator gives out: the sum is compared without one.
TEST_F(MemoryBudget, TheSumIsWhatTheAllocatorGaveOut) {
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    const BlockHeap::Stats blocks = BlockHeap::shared().stats();
    return static_cast<double>(info.uordblks + info.hblkhd + bytes_of_pages() - SparePages::bytes() -
                               blocks.mapped + blocks.resident);
  };
  const ScratchDirectory scratch;
  EngineOptions options;
  options.create_if_missing = true;
  options.cache_bytes = 8 << 20;
  options.memtable_bytes = 4 << 20;
  options.durability = Durability::kSkipWal;
  const double before = in_use();
  auto real = Engine::open(scratch.path() + "/store", options).value();
  FamilyOptions plain = family("f");
  plain.compression = "none";
  auto table = real->create_table("t", {.families = {plain}}).value();
  const auto fill = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      EXPECT_OK(table->put(Put("r" + std::to_string(1'000'000 + i)).add("f", "q", std::string(1000, 'v'))));
  };
  const auto compare = [&](const char* when) {
    const EngineStatus status = real->status();
    const auto told = static_cast<double>(status.memory_bytes);
    const auto parts = status.memtable_bytes + status.cache_used_bytes + status.memtable_held_bytes +
                       status.reader_bytes + status.job_bytes;
    EXPECT_EQ(status.memory_bytes, parts) << when;
    if (kSanitized) return;
    const double given = in_use() - before;
    EXPECT_LT(told, given * 1.25) << when;
    EXPECT_GT(told, given * 0.75) << when;
  };
  fill(0, 20'000);
  EXPECT_OK(real->flush());
  EXPECT_OK(real->wait_for_background());
  uint64_t rows = 0;
  for (auto scanner = table->scan(Scan()).value(); scanner->next();) ++rows;
  EXPECT_EQ(rows, 20'000u);
  EXPECT_GT(real->status().cache_used_bytes, 7u << 20) << "the cache is full";
  compare("a full cache");
  fill(20'000, 23'000);
  compare("a memtable, too");
  const auto scanner = table->scan(Scan().start("r1021")).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_OK(real->flush());
  EXPECT_OK(real->wait_for_background());
  EXPECT_GT(real->status().memtable_held_bytes, 3'000'000u);
  compare("a memtable that a scanner keeps");
}

// Threads fill the cache with blocks of one size after the other. With malloc each thread has a heap of its
// own. Blocks of one size then leave gaps that others do not fill, and the process took 130 MiB. The process
// may take 36 MiB more than the cache. Flushes, compactions and scanners give up to 24 MiB back to malloc,
// which keeps it, and how much depends on the order of threads. The memory of the blocks themselves is exact.
TEST_F(MemoryBudget, AProcessTakesLittleMoreThanItsCacheAfterBlocksOfManySizes) {
  if (kSanitized) GTEST_SKIP() << "A sanitizer takes memory of its own, which hides what the cache takes.";
  constexpr uint64_t kCache = 64 << 20;
  const std::vector<std::pair<std::string, uint32_t>> sizes = {
      {"a", 4 << 10}, {"b", 16 << 10}, {"c", 60'000}, {"d", 24'000}};
  const ScratchDirectory scratch;
  EngineOptions options;
  options.create_if_missing = true;
  options.cache_bytes = kCache;
  options.durability = Durability::kSkipWal;
  options.memtable_bytes = 4 << 20;
  const uint64_t before = anonymous_bytes();
  auto real = Engine::open(scratch.path() + "/store", options).value();
  TableOptions made;
  for (const auto& [name, bytes] : sizes) {
    made.families.push_back(family(name));
    made.families.back().block_bytes = bytes;
    made.families.back().compression = "none";
  }
  auto table = real->create_table("t", made).value();
  constexpr int kRows = 24'000;
  Random random(1);
  for (int i = 0; i < kRows; ++i) {
    Put row("r" + std::to_string(1'000'000 + i));
    for (const auto& [name, bytes] : sizes) row.add(name, "q", std::string(200 + random.below(3'000), 'v'));
    EXPECT_OK(table->put(row));
  }
  EXPECT_OK(real->flush());
  EXPECT_OK(real->wait_for_background());
  const auto read = [&](const std::string& of_family, uint64_t seed) {
    Random rows(seed);
    for (int scans = 0; scans < 20; ++scans) {
      const uint64_t first = rows.below(kRows * 9 / 10);
      auto scanner =
          table->scan(Scan().start("r" + std::to_string(1'000'000 + first)).family(of_family)).value();
      for (int row = 0; row < kRows / 10; ++row) ASSERT_TRUE(scanner->next());
    }
  };
  uint64_t most = 0, most_of_blocks = 0;
  for (uint64_t round = 0; round < 8; ++round) {
    std::vector<std::jthread> threads;
    for (uint64_t thread = 0; thread < 4; ++thread)
      threads.emplace_back(read, sizes[(round + thread / 2) % sizes.size()].first, round * 8 + thread);
    threads.clear();
    most = std::max(most, anonymous_bytes() - before);
    most_of_blocks = std::max(most_of_blocks, BlockHeap::shared().stats().resident);
  }
  EXPECT_GT(real->status().cache_used_bytes, kCache * 9 / 10) << "too little for this test";
  EXPECT_LE(most_of_blocks, kCache + BlockHeap::kFreeBytesMin);
  EXPECT_LE(most, kCache + (36 << 20)) << "blocks that left the cache stay with the process";
  table.reset();
  EXPECT_OK(real->close());
}

// The executor of a test gets no jobs that depend on what the process did before.
TEST_F(MemoryBudget, TheCacheOfAnEngineWithItsOwnThreadsHasARegionMadeReady) {
  if (!kKeepsMemory) GTEST_SKIP() << "The blocks come from the sanitizer's allocator.";
  const auto made_ready = [] { return BlockHeap::shared().stats().made_ready; };
  const ScratchDirectory scratch;
  const auto read_all = [&](Executor* executor) {
    const uint64_t before = made_ready();
    EngineOptions options;
    options.create_if_missing = true;
    options.durability = Durability::kSkipWal;
    options.environment.executor = executor;
    auto real = Engine::open(scratch.path() + "/store", options).value();
    FamilyOptions plain = family("f");
    plain.compression = "none";
    if (real->list_tables().empty()) (void)real->create_table("t", {.families = {plain}}).value();
    auto table = real->open_table("t").value();
    for (int i = 0; executor != nullptr && i < 24'000; ++i)
      EXPECT_OK(table->put(Put("r" + std::to_string(1'000'000 + i)).add("f", "q", std::string(1000, 'v'))));
    EXPECT_OK(real->flush());
    auto scanner = table->scan(Scan()).value();
    while (scanner->next()) {
    }
    EXPECT_OK(scanner->status());
    EXPECT_GT(real->status().cache_used_bytes, 20'000'000u);
    for (int waits = 0; executor == nullptr && made_ready() == before && waits < 10'000; ++waits)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    table.reset();
    scanner.reset();
    EXPECT_OK(real->close());
  };
  const uint64_t before = made_ready();
  const std::unique_ptr<Executor> brought = make_thread_executor(1, 1);
  read_all(brought.get());
  EXPECT_EQ(made_ready(), before);
  read_all(nullptr);
  EXPECT_GT(made_ready(), before);
}

}  // namespace
}  // namespace cellar::testing
