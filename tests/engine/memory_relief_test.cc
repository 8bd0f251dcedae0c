// Goal: writers that wait for memory are never stuck. Memtables are flushed until there is room, however
// small each of them is. Memory that the system refuses ends the process. Method: options under which many
// families together fill the memory, and none of them its memtable.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/plugins.h"
#include "memtable/memtable.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class MemoryRelief : public EngineFixture {
 protected:
  static constexpr int kFamilies = 40;

  static EngineOptions small_memory() {
    EngineOptions options;
    options.memtable_bytes = 64 << 10;
    options.memtable_bytes_total = 128 << 10;
    options.stall_ms_max = 5000;
    return options;
  }
  static std::string name(int family) { return "f" + std::to_string(100 + family); }
  void make_families() {
    std::vector<FamilyOptions> families;
    for (int i = 0; i < kFamilies; ++i) families.push_back(family(name(i)));
    table_ = make_table("t", families);
  }
  // Puts a cell of so many bytes into each family.
  Status put_all(size_t bytes) {
    Put put("r" + std::to_string(++rows_));
    for (int i = 0; i < kFamilies; ++i) put.add(name(i), "q", std::string(bytes, 'v'));
    return table_->put(put);
  }

  std::shared_ptr<Table> table_;
  int rows_ = 0;
};

TEST_F(MemoryRelief, ManySmallMemtablesAreFlushedUntilThereIsRoom) {
  open(small_memory());
  make_families();
  for (int i = 0; i < 60; ++i) EXPECT_OK(put_all(2600));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_LT(engine_->status().memtable_bytes, small_memory().memtable_bytes_total);
  EXPECT_GT(engine_->status().flushes, 10u);
}

TEST_F(MemoryRelief, ALogWithMoreThanMemtablesMayHoldIsFlushedAtOnce) {
  EngineOptions options = small_memory();
  options.memtable_bytes_total = 8 << 20;
  open(options);
  make_families();
  for (int i = 0; i < 4; ++i) EXPECT_OK(put_all(2600));
  ASSERT_GT(engine_->status().memtable_bytes, 3 * small_memory().memtable_bytes_total);
  table_.reset();
  open(small_memory());
  table_ = engine_->open_table("t").value();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_LT(engine_->status().memtable_bytes, small_memory().memtable_bytes_total);
  EXPECT_OK(put_all(10));
}

// Memory is measured twice: when a writer finds it short, and when memtables are chosen. A flush may end in
// between, and free enough.
TEST_F(MemoryRelief, AFlushThatEndsMeanwhileFreesTheMemoryThatIsShort) {
  EngineOptions options = small_memory();
  options.background_threads = 4;
  options.durability = Durability::kSkipWal;
  open(options);
  make_families();
  constexpr uint64_t kThreads = 4;
  const uint64_t puts = std::max<uint64_t>(2000, scaled(20'000));
  std::vector<std::thread> writers;
  for (uint64_t thread = 0; thread < kThreads; ++thread)
    writers.emplace_back([&, thread] {
      for (uint64_t i = 0; i < puts; ++i)
        EXPECT_OK(table_->put(Put("r" + std::to_string(thread) + "_" + std::to_string(i))
                                  .add(name(static_cast<int>(i % 10)), "q", std::string(500, 'v'))));
    });
  for (std::thread& each : writers) each.join();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(table_->count().value().rows, kThreads * puts);
}

// The flush of one family fails again and again. Its retry is far away, and others are flushed meanwhile.
TEST_F(MemoryRelief, AFlushThatFailsKeepsNoOtherFromFreeingMemory) {
  FaultFileSystem& files = watch_files();
  open(small_memory());
  make_families();
  files.inject({.on = FileOperation::kCreate, .name = "tables/*/" + name(0) + "/*", .sticky = true});
  EXPECT_OK(table_->put(Put("r").add(name(0), "q", "v")));
  EXPECT_FALSE(table_->flush().ok());
  for (int i = 0; i < 60; ++i) {
    Put put("r" + std::to_string(i));
    for (int each = 1; each < kFamilies; ++each) put.add(name(each), "q", std::string(2600, 'v'));
    EXPECT_OK(table_->put(put));
  }
  files.clear();
  EXPECT_OK(table_->flush());
}

// A table with most of the memory goes while a writer waits for memory.
TEST_F(MemoryRelief, TheEndOfATableWakesWritersThatWaitForItsMemory) {
  FaultFileSystem& files = watch_files();
  EngineOptions options = small_memory();
  options.stall_ms_max = 60'000;
  open(options);
  table_ = make_table("t", {family("f")});
  const auto other = make_table("u", {family("f")});
  files.inject({.on = FileOperation::kCreate, .name = "tables/*", .sticky = true});
  for (const bool drops : {true, false}) {
    while (engine_->status().memtable_bytes < options.memtable_bytes_total)
      EXPECT_OK(table_->put(Put("r" + std::to_string(++rows_)).add("f", "q", std::string(9000, 'v'))));
    std::thread writer([&] { EXPECT_OK(other->put(Put("r").add("f", "q", "v"))); });
    while (engine_->status().stalls == (drops ? 0u : 1u)) std::this_thread::yield();
    if (drops) {
      EXPECT_OK(engine_->drop_table("t"));
    } else {
      EXPECT_OK(engine_->truncate_table("t"));
    }
    writer.join();
    EXPECT_LT(engine_->status().stall_micros, 50'000'000);
    table_ = make_table("t", {family("f")});
  }
  files.clear();
  EXPECT_OK(engine_->flush());
}

// Writes during each flush, so that another memtable waits when it ends.
struct WritingListener final : EventListener {
  void on_flush_begin(const FlushInfo&) override {
    if (++flushes < kFlushesMax && write && !over) write();
  }
  static constexpr int kFlushesMax = 5000;
  std::function<void()> write;
  std::atomic<bool> over = false;
  std::atomic<int> flushes = 0;
};

TEST_F(MemoryRelief, AFlushOnRequestDoesNotWaitForLaterWrites) {
  WritingListener listener;
  EngineOptions options;
  options.memtable_bytes = 64 << 10;
  options.environment.events = &listener;
  open(options);
  table_ = make_table("t", {family("f")});
  EXPECT_OK(table_->put(Put("r").add("f", "q", "v")));
  listener.write = [&] { EXPECT_OK(table_->put(Put("r").add("f", "q", std::string(70'000, 'v')))); };
  EXPECT_OK(table_->flush());
  EXPECT_LT(listener.flushes, WritingListener::kFlushesMax) << "it waited until nobody wrote";
  listener.over = true;
  EXPECT_OK(engine_->wait_for_background());
  table_.reset();
  engine_.reset();
}

// The system refuses it memory for the row "none".
class RefusedMemtable final : public Memtable {
 public:
  void insert(const CellView& cell, const Spot&) override {
    if (cell.row() == "none") throw std::bad_alloc();
    table_->insert(cell);
  }
  std::unique_ptr<RunCursor> cursor() const override { return table_->cursor(); }
  bool find(const CellView& target, CellView& found, Spot& spot) const override {
    return table_->find(target, found, spot);
  }
  MemtableSummary summary() const override { return table_->summary(); }
  uint64_t bytes() const override { return table_->bytes(); }
  bool may_contain_row(std::string_view row) const override { return table_->may_contain_row(row); }

 private:
  Memtable* const table_ = make_memtable("skip_list").value().release();
  const Pin pin_{table_};
};

// The log has the write, and other writers wait for it: they would wait forever.
TEST_F(MemoryRelief, MemoryThatIsRefusedDuringACommitEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Registry<Memtable>::instance().add("refused",
                                     [](const PluginParams&) { return std::make_unique<RefusedMemtable>(); });
  EngineOptions options;
  options.memtable = "refused";
  open(options);
  table_ = make_table("t", {family("f")});
  EXPECT_OK(table_->put(Put("some").add("f", "q", "v")));
  for (const Durability durability : {Durability::kSyncWal, Durability::kFsyncWal}) {
    const auto put = [&] {
      try {
        static_cast<void>(table_->put(Put("none").add("f", "q", "v"), {.durability = durability}).ok());
      } catch (const std::bad_alloc&) {  // the process must have ended
      }
    };
    EXPECT_DEATH(put(), "bad_alloc");
  }
}

}  // namespace
}  // namespace cellar::testing
