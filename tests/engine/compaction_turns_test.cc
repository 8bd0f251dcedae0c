// Goal: files that come while a long compaction runs are compacted meanwhile, in turns with it, so that they
// do not pile up. Method: an executor whose checkpoint, called in the midst of a compaction, flushes more
// files; a listener notes which compaction begins and ends when. A compaction holds nothing in memory that it
// does not read: memtables are counted.
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "cellar/compaction_policy.h"
#include "memtable/memtable.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

// Real threads; `between` is called once, by the first checkpoint after it was set.
class BetweenExecutor final : public Executor {
 public:
  void submit(JobPriority priority, std::function<void()> job) override {
    threads_->submit(priority, std::move(job));
  }
  void submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) override {
    threads_->submit_later(priority, delay_us, std::move(job));
  }
  void checkpoint() override {
    threads_->checkpoint();
    if (armed_.exchange(false)) std::exchange(between_, nullptr)();  // it may arm the next one
  }
  std::unique_ptr<Event> make_event() override { return threads_->make_event(); }
  void arm(std::function<void()> between) {
    between_ = std::move(between);
    armed_ = true;
  }

 private:
  std::function<void()> between_;
  std::atomic<bool> armed_{false};
  std::unique_ptr<Executor> threads_ = make_thread_executor(2, 1);
};

class Compactions final : public EventListener {
 public:
  std::string told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  std::function<void()> on_first;      // when the first one begins
  std::function<void()> on_first_end;  // when it has ended, and still counts as running

 private:
  void on_compaction_begin(const CompactionInfo& info) override {
    {
      const std::lock_guard lock(mutex_);
      told_ += "begin " + std::to_string(info.inputs.size()) + ", ";
    }
    if (auto first = std::exchange(on_first, nullptr)) first();
  }
  void on_compaction_end(const CompactionInfo& info) override {
    {
      const std::lock_guard lock(mutex_);
      told_ += (info.status.ok() ? "end " : info.status.to_text() + " ") +
               std::to_string(info.inputs.size()) + ", ";
    }
    if (auto first = std::exchange(on_first_end, nullptr)) first();
  }

  std::mutex mutex_;
  std::string told_;
};

// The default memtable; counts how many there are.
class CountedMemtable final : public Memtable {
 public:
  CountedMemtable() { ++alive; }
  ~CountedMemtable() override { --alive; }
  void insert(const CellView& cell, const Spot& spot) override { table().insert(cell, spot); }
  std::unique_ptr<RunCursor> cursor() const override { return table().cursor(); }
  bool find(const CellView& target, CellView& found, Spot& spot) const override {
    return table().find(target, found, spot);
  }
  MemtableSummary summary() const override { return table().summary(); }
  uint64_t bytes() const override { return table().bytes(); }
  bool may_contain_row(std::string_view row) const override { return table().may_contain_row(row); }
  static inline std::atomic<int> alive = 0;

 private:
  Memtable& table() const { return *made_; }
  Memtable* const made_ = make_memtable("blink").value().release();
  const Pin pin_ = Pin(made_);
};

// Sends two runs of flushes to level 1. While a compaction runs, it moves the newest run there.
class Hasty final : public CompactionPolicy {
 public:
  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    std::vector<const StoreFileInfo*> young;
    CompactionPlan plan{.why = "hasty", .level = 1, .move = true};
    bool busy = false;
    for (const StoreFileInfo& file : shape.files) {
      busy = busy || file.busy;
      if (file.level == 1) plan.run = file.run;
      if (file.level == 0 && !file.busy) young.push_back(&file);
    }
    if (young.empty()) return std::nullopt;
    if (busy || plan.run == 0) {
      plan.inputs = {young.back()->id};
      return plan;
    }
    if (young.size() < 2) return std::nullopt;
    plan.move = false;
    for (const StoreFileInfo* file : young) plan.inputs.push_back(file->id);
    return plan;
  }
};

class CompactionTurns : public EngineFixture {
 protected:
  void TearDown() override {
    table_.reset();
    engine_.reset();  // before what it borrows
  }

  void begin(EngineOptions options = {}, const char* policy = "exploring") {
    options.environment.executor = &executor_;
    options.environment.events = &compactions_;
    open(options);
    FamilyOptions a = family("a");
    a.compression = "none";
    a.compaction = policy;
    table_ = make_table("t", {a});
  }

  void write_file(int version, int rows, int first = 0) {
    for (int i = 0; i < rows; ++i)
      EXPECT_OK(table_->put(
          Put(row(first + i)).add_at("a", "q", version, std::string(200, static_cast<char>('a' + version)))));
    EXPECT_OK(engine_->flush());
  }

  static std::string row(int i) { return "r" + std::to_string(100000 + i); }

  // Three large files, and `count` small ones that come while those are compacted.
  void run(int count) {
    compactions_.on_first = [&, count] {
      executor_.arm([&, count] {
        for (int i = 0; i < count; ++i) write_file(10 + i, 10);
      });
    };
    for (int i = 0; i < 3; ++i) write_file(i, 3000);
  }

  // Waits until this is what compactions did.
  void expect(const std::string& told) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (compactions_.told() != told && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(compactions_.told(), told);
  }

  void check(int newest) {
    for (const int i : {0, 9, 10, 2999})
      EXPECT_EQ(get(*table_, Get(row(i))).front().back(), static_cast<char>('a' + (i < 10 ? newest : 2)))
          << i;
    uint64_t rows = 0;
    auto scanner = table_->scan(Scan());
    ASSERT_TRUE(scanner.ok());
    for ([[maybe_unused]] const RowView each : **scanner) ++rows;
    EXPECT_EQ(rows, 3000u);
  }

  BetweenExecutor executor_;
  Compactions compactions_;
  std::shared_ptr<Table> table_;
};

// The flush of the third file requests the compaction that the policy plans. Nobody requests it again
// afterwards.
TEST_F(CompactionTurns, WhatIsAskedForAtTheEndOfACompactionIsDoneAfterIt) {
  begin();
  for (int i = 0; i < 2; ++i) write_file(i, 10);
  compactions_.on_first_end = [&] {
    for (int i = 2; i < 5; ++i) write_file(i, 10);
  };
  EXPECT_OK(table_->major_compact());
  expect("begin 2, end 2, begin 4, end 4, ");
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(table_->info().families[0].files.size(), 1u);
}

TEST_F(CompactionTurns, NewFilesAreCompactedInTheMidstOfALongCompaction) {
  begin();
  run(3);
  expect("begin 3, begin 3, end 3, end 3, ");
  check(12);
}

TEST_F(CompactionTurns, TooFewNewFilesWaitForItsEnd) {
  begin();
  run(2);
  expect("begin 3, end 3, begin 3, end 3, ");
  check(11);
}

// Files are flushed in the midst of the first compaction, and in the midst of the one that takes a turn with
// it. After each flush the active memtable is the only one.
TEST_F(CompactionTurns, FlushedMemtablesLeaveTheMemoryInTheMidstOfALongCompaction) {
  Registry<Memtable>::instance().add("counted",
                                     [](const PluginParams&) { return std::make_unique<CountedMemtable>(); });
  begin({.memtable = "counted"});
  std::vector<int> alive;
  const auto write_files = [&](int version, int rows) {
    for (int i = 0; i < 3; ++i) {
      write_file(version + i, rows);
      alive.push_back(CountedMemtable::alive);
    }
  };
  compactions_.on_first = [&] {
    executor_.arm([&] {
      write_files(10, 2500);
      executor_.arm([&] { write_files(13, 10); });
    });
  };
  for (int i = 0; i < 3; ++i) write_file(i, 3000);
  expect("begin 3, begin 3, begin 3, end 3, end 3, end 3, begin 3, end 3, ");
  EXPECT_EQ(alive, std::vector<int>(6, 1));
}

// The output of the long compaction has rows on both sides of the new file. The new file shares no rows with
// the inputs.
TEST_F(CompactionTurns, NothingJoinsTheRunThatALongCompactionWrites) {
  Registry<CompactionPolicy>::instance().add("hasty",
                                             [](const PluginParams&) { return std::make_unique<Hasty>(); });
  begin({}, "hasty");
  write_file(0, 10);
  expect("begin 1, end 1, ");
  write_file(1, 3000, 1000);
  compactions_.on_first = [&] { executor_.arm([&] { write_file(2, 10, 5000); }); };
  write_file(3, 3000, 6000);
  expect("begin 1, end 1, begin 2, end 2, ");
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(table_->info().families[0].files.size(), 3u);
  uint64_t rows = 0;
  auto scanner = table_->scan(Scan());
  ASSERT_TRUE(scanner.ok());
  for ([[maybe_unused]] const RowView each : **scanner) ++rows;
  EXPECT_EQ(rows, 6020u);
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(table_->info().families[0].files.size(), 1u);
}

TEST_F(CompactionTurns, NothingBeginsWhereOnlyRequestsCompact) {
  begin({.automatic_compaction = false});
  run(3);
  EXPECT_EQ(compactions_.told(), "");
  compactions_.on_first = [&] {
    executor_.arm([&] {
      for (int i = 0; i < 3; ++i) write_file(20 + i, 10);
    });
  };
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(compactions_.told(), "begin 3, end 3, ");
  check(22);
}

}  // namespace
}  // namespace cellar::testing
