// Goal: the threads of a compaction in parts neither wait for work that nobody has begun nor use memory that
// was freed. A compaction whose part fails reports one error, and leaves no new file. Method: parts wait for
// each other, and an executor keeps jobs back. Every operation fails once, and inputs are damaged. Engines
// are closed at every moment of a compaction. Readers and writers go on during compactions.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <thread>

#include "engine/jobs/compaction_parts.h"
#include "tests/engine/compaction_parts_support.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kPartsPolicy = "leveled(fanout=3, base_bytes=16k, file_bytes=2k, runs_min=2)";

// Keeps jobs of low priority back until release(), which runs them.
class KeepingExecutor final : public Executor {
 public:
  void submit(JobPriority priority, std::function<void()> job) override {
    if (priority == JobPriority::kHigh) return threads_->submit(priority, std::move(job));
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(job));
  }
  void submit_later(JobPriority priority, int64_t delay_us, std::function<void()> job) override {
    threads_->submit_later(priority, delay_us, std::move(job));
  }
  void checkpoint() override { threads_->checkpoint(); }
  std::unique_ptr<Event> make_event() override { return threads_->make_event(); }
  size_t release() {
    std::vector<std::function<void()>> jobs;
    {
      const std::lock_guard lock(mutex_);
      jobs.swap(kept_);
    }
    for (const auto& job : jobs) job();
    return jobs.size();
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> kept_;
  std::unique_ptr<Executor> threads_ = make_thread_executor(2, 1);
};

TEST(RunParts, DoesEachPartOnce) {
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 3);
  for (const size_t parts : {1u, 2u, 3u, 50u}) {
    std::vector<std::atomic<int>> done(parts);
    std::atomic<uint64_t> last{0};
    const std::thread::id own = std::this_thread::get_id();
    const auto work = [&](size_t part, const PartCheckpoint& checkpoint) {
      ++done[part];
      CELLAR_TRY(checkpoint(3));
      return checkpoint(10);
    };
    EXPECT_OK(run_parts(*executor, parts, work, [&](uint64_t cells) {
      EXPECT_EQ(std::this_thread::get_id(), own);
      EXPECT_GE(cells, last);
      last = cells;
    }));
    for (const auto& each : done) EXPECT_EQ(each, 1);
    EXPECT_LE(last, 10 * parts);
  }
}

// Three parts, each of which goes on when all have begun.
TEST(RunParts, DoesPartsAtTheSameTime) {
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 2);
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
  EXPECT_OK(run_parts(
      *executor, 3,
      [&](size_t, const PartCheckpoint& checkpoint) {
        std::unique_lock lock(mutex);
        ++begun;
        changed.notify_all();
        const bool all = changed.wait_for(lock, std::chrono::seconds(30), [&] { return begun == 3; });
        lock.unlock();
        return all ? checkpoint(1) : Status::io_error("the parts came one after the other");
      },
      [](uint64_t) {}));
}

// The thread of the compaction does everything. Jobs that begin later find nothing to do.
TEST(RunParts, WaitsForNoThreadThatHasNotBegun) {
  KeepingExecutor executor;
  {
    std::vector<int> done(7);
    uint64_t cells_done = 0;
    EXPECT_OK(run_parts(
        executor, done.size(),
        [&](size_t part, const PartCheckpoint& checkpoint) {
          ++done[part];
          return checkpoint(part);
        },
        [&](uint64_t cells) { cells_done = cells; }));
    EXPECT_EQ(done, std::vector<int>(7, 1));
    EXPECT_EQ(cells_done, 0u + 1 + 2 + 3 + 4 + 5 + 6);
  }
  EXPECT_EQ(executor.release(), 6u);
}

TEST(RunParts, TellsTheFirstFailureAndBeginsNoFurtherPart) {
  KeepingExecutor executor;
  std::vector<size_t> begun;
  const Status status = run_parts(
      executor, 5,
      [&](size_t part, const PartCheckpoint& checkpoint) {
        begun.push_back(part);
        return part == 2 ? Status::no_space("full") : checkpoint(1);
      },
      [](uint64_t) {});
  EXPECT_TRUE(status.is(Code::kNoSpace)) << status.to_text();
  EXPECT_EQ(begun, (std::vector<size_t>{0, 1, 2}));
  executor.release();
  EXPECT_EQ(begun.size(), 3u);
}

// Part 0 works until it is told to end, which is no failure of its own.
TEST(RunParts, EndsTheOthersAtTheirNextCheckpoint) {
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 2);
  const Status status = run_parts(
      *executor, 2,
      [&](size_t part, const PartCheckpoint& checkpoint) {
        if (part == 1) return Status::corruption("damaged");
        while (true) {
          CELLAR_TRY(checkpoint(0));
          std::this_thread::yield();
        }
      },
      [](uint64_t) {});
  EXPECT_TRUE(status.is(Code::kCorruption)) << status.to_text();
}

TEST(RunParts, IsAbortedIfAllFailuresAre) {
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 2);
  const Status status = run_parts(
      *executor, 3, [](size_t, const PartCheckpoint&) { return Status::aborted("closing"); },
      [](uint64_t) {});
  EXPECT_TRUE(status.is(Code::kAborted)) << status.to_text();
}

class PartsAndFaults : public EngineFixture {
 protected:
  void TearDown() override { end(); }
  void end() {
    table_.reset();
    engine_.reset();  // before what it borrows
  }
  void begin(EngineOptions options = {}) {
    options.background_threads = 4;
    options.compaction_parts_max = 4;
    options.compaction_part_bytes = 1;
    options.environment.events = &watcher_;
    open(options);
    table_ = make_table("t", {family_of_small_blocks(kPartsPolicy)});
  }
  static EngineOptions on_request() {
    EngineOptions options;
    options.automatic_compaction = false;
    return options;
  }
  void flush_rows(uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; ++i)
      EXPECT_OK(table_->put(Put(part_row(i)).add("f", "q", std::string(100, 'v') + std::to_string(i))));
    EXPECT_OK(engine_->flush());
  }
  void expect_only_its_files() {
    EXPECT_OK(engine_->wait_for_background());
    EXPECT_EQ(files_on_disk(*files_, *table_), files_of(*table_));
  }
  Texts troubles() {
    Texts names;
    for (const Trouble& each : engine_->status().troubles) names.push_back(each.what);
    return names;
  }

  PartsWatcher watcher_;
  std::shared_ptr<Table> table_;
};

// Jobs that begin when the engine is gone touch nothing of it.
TEST_F(PartsAndFaults, HelpersMayComeWhenTheEngineIsGone) {
  KeepingExecutor executor;
  EngineOptions options = on_request();
  options.environment.executor = &executor;
  begin(options);
  flush_rows(0, 200);
  flush_rows(0, 200);
  const Texts before = scan(*table_, Scan());
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(scan(*table_, Scan()), before);
  EXPECT_EQ(watcher_.most_parts(), 4u);
  table_.reset();
  EXPECT_OK(engine_->close());
  end();
  EXPECT_GE(executor.release(), 3u);
}

// One thread for compactions runs the compaction itself.
TEST_F(PartsAndFaults, OneThreadIsEnough) {
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
  EngineOptions options;
  options.environment.executor = executor.get();
  begin(options);
  flush_rows(0, 200);  // goes to level 1 as it is
  flush_rows(100, 200);
  flush_rows(50, 200);
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(watcher_.most_parts(), 4u);
  EXPECT_EQ(scan(*table_, Scan()).size(), 300u);
  end();
}

// Each operation of a compaction on the store's files fails once: nothing is left of it, and all answers are
// as before. The next compaction succeeds.
TEST_F(PartsAndFaults, AFailureLeavesNoFile) {
  const FileOperations kinds[] = {FileOperation::kCreate, FileOperation::kAppend, FileOperation::kSync,
                                  FileOperation::kClose, FileOperation::kRead};
  int failures = 0;
  for (const FileOperations& on : kinds) {
    for (uint64_t nth = 1; nth < 200; nth += 1 + nth / 3) {
      end();
      files_ = make_memory_file_system();
      FaultFileSystem& files = watch_files();
      begin(on_request());
      flush_rows(0, 200);
      flush_rows(100, 200);
      const Texts before = scan(*table_, Scan());
      const Texts inputs = files_of(*table_);
      files.inject({.on = on, .name = "tables/*", .nth = nth});
      const Status status = table_->major_compact();
      const bool struck = files.struck() != 0;
      files.clear();
      EXPECT_EQ(status.ok(), !struck) << status.to_text();
      EXPECT_EQ(scan(*table_, Scan()), before);
      if (!struck) break;
      ++failures;
      EXPECT_TRUE(status.is(Code::kIoError)) << status.to_text();
      EXPECT_EQ(files_of(*table_), inputs);
      expect_only_its_files();
      EXPECT_EQ(troubles(), Texts{});
      EXPECT_OK(table_->major_compact());
      EXPECT_EQ(scan(*table_, Scan()), before);
      expect_only_its_files();
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(failures, 30);
  EXPECT_EQ(watcher_.failed_in_parts(), failures);
}

// The damaged file has rows of one part. It is set aside, and compactions go on without it.
TEST_F(PartsAndFaults, ADamagedInputOfOnePartIsSetAside) {
  FaultFileSystem& files = watch_files();
  begin(on_request());
  for (uint64_t first = 0; first < 400; first += 100) flush_rows(first, 100);
  const std::vector<StoreFileInfo> inputs = table_->info().families.at(0).files;
  ASSERT_EQ(inputs.size(), 4u);
  const std::string victim = inputs[2].name;
  files.inject({.on = FileOperation::kRead, .name = "*" + victim, .nth = 0, .kind = Fault::Kind::kFlipBit});
  const Status damaged = table_->major_compact();
  EXPECT_TRUE(damaged.is(Code::kCorruption)) << damaged.to_text();
  EXPECT_NE(damaged.to_text().find(victim), std::string::npos) << damaged.to_text();
  EXPECT_EQ(watcher_.failed_in_parts(), 1);
  EXPECT_EQ(troubles(), Texts{"damaged file " + victim});
  expect_only_its_files();
  EXPECT_EQ(files_of(*table_).size(), 4u);
  files.clear();
  EXPECT_OK(table_->major_compact());  // it reads the file again
  EXPECT_EQ(troubles(), Texts{});
  EXPECT_EQ(scan(*table_, Scan()).size(), 400u);
  EXPECT_EQ(watcher_.most_parts(), 4u);
}

// Engines that are closed at each moment of a compaction in parts, with threads that take turns.
TEST_F(PartsAndFaults, ClosingEndsAllParts) {
  int aborted = 0, whole = 0;
  for (uint64_t seed = 1; seed <= std::max<uint64_t>(80, scaled(200)); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    end();
    files_ = make_memory_file_system();
    begin(on_request());
    for (const uint64_t first : {0, 100, 50}) flush_rows(first, 200);
    const Texts before = scan(*table_, Scan());
    EXPECT_OK(engine_->close());
    end();
    const int failed = watcher_.failed_in_parts();
    {
      StepExecutor executor({.seed = seed, .low = 3}, clock_);
      EngineOptions options;
      options.environment.executor = &executor;
      begin(options);
      Random random(seed);
      for (uint64_t steps = random.below(12); steps > 0; --steps) executor.checkpoint();
      table_.reset();
      EXPECT_OK(engine_->close());
      end();
      executor.finish();
    }
    ++(watcher_.failed_in_parts() > failed ? aborted : whole);
    begin(on_request());
    EXPECT_EQ(engine_->recovery_report().orphans_removed, 0u);
    EXPECT_EQ(scan(*table_, Scan()), before);
    EXPECT_EQ(files_on_disk(*files_, *table_), files_of(*table_));
    if (::testing::Test::HasFailure()) return;
  }
  count(aborted, "closings aborted a compaction");
  EXPECT_GT(aborted, 5);
  EXPECT_GT(whole, 5);
}

// Threads write and read, flushes and compactions in parts run by themselves. Values of a row only grow.
TEST_F(PartsAndFaults, ReadersAndWritersGoOn) {
  EngineOptions options;
  options.memtable_bytes = 16 << 10;
  begin(options);
  constexpr uint64_t kRowsWritten = 600;
  constexpr int kWriters = 2;
  const uint64_t writes = std::max<uint64_t>(3'000, scaled(30'000));
  std::atomic<int> writing{kWriters};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      Random random(static_cast<uint64_t>(writer) + 1);
      for (uint64_t i = 0; i < writes; ++i) {
        const uint64_t row = random.below(kRowsWritten / kWriters) * kWriters + static_cast<uint64_t>(writer);
        const std::string value = std::to_string(1'000'000 + i);
        EXPECT_OK(table_->put(Put(part_row(row)).add_at("f", "q", static_cast<int64_t>(i), value)));
      }
      --writing;
    });
  }
  threads.emplace_back([&] {
    std::map<std::string, std::string> seen;
    while (writing > 0) {
      auto scanner = table_->scan(Scan());
      ASSERT_TRUE(scanner.ok());
      size_t rows = 0;
      for (const RowView each : **scanner) {
        ++rows;
        const std::string value(each.value("f", "q").value_or("-"));
        std::string& last = seen[std::string(each.row())];
        EXPECT_GE(value, last);
        last = value;
      }
      EXPECT_OK((*scanner)->status());
      EXPECT_EQ(rows, seen.size());
    }
  });
  for (std::thread& each : threads) each.join();
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_OK(table_->major_compact());
  EXPECT_GT(watcher_.in_parts(), 0);
  std::map<std::string, std::string> expected;
  for (int writer = 0; writer < kWriters; ++writer) {
    Random random(static_cast<uint64_t>(writer) + 1);
    for (uint64_t i = 0; i < writes; ++i) {
      const uint64_t row = random.below(kRowsWritten / kWriters) * kWriters + static_cast<uint64_t>(writer);
      expected[part_row(row)] = std::to_string(1'000'000 + i);
    }
  }
  auto scanner = table_->scan(Scan());
  ASSERT_TRUE(scanner.ok());
  std::map<std::string, std::string> found;
  for (const RowView each : **scanner) found.emplace(each.row(), each.value("f", "q").value_or("-"));
  EXPECT_TRUE(found == expected);
  expect_only_its_files();
}

}  // namespace
}  // namespace cellar::testing
