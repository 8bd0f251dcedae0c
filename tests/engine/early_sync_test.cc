// Goal: early syncs change nothing but the time at which bytes become durable. A failure of one is never
// forgotten. Method: a file counts its syncs, waits in them, or fails in them. The executors have threads,
// take single steps, or have no free thread.
#include "engine/store/early_sync.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/engine/wal_support.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kEvery = 1000;

// Counts the calls of a file. Outlives the file.
struct Log {
  std::string bytes;  // appended
  std::atomic<uint64_t> size{0};
  std::atomic<uint64_t> durable{0};  // the size at the last sync that succeeded
  std::atomic<int> syncs{0};
  std::atomic<int> failing{-1};      // the sync that fails, counted from 0
  std::atomic<bool> is_held{false};  // syncs wait until it is false
  std::atomic<bool> waits{false};    // a sync waits
  std::atomic<bool> is_closed{false};
};

class LoggedFile final : public WritableFile {
 public:
  explicit LoggedFile(Log& log) : log_(log) {}
  Status append(std::string_view bytes) override {
    log_.bytes.append(bytes);
    log_.size += bytes.size();
    return {};
  }
  Status sync() override {
    EXPECT_FALSE(log_.is_closed);
    const uint64_t size = log_.size;
    while (log_.is_held) {
      log_.waits = true;
      std::this_thread::yield();
    }
    if (log_.syncs++ == log_.failing) return Status::io_error("the test's disk is broken");
    log_.durable = size;
    return {};
  }
  uint64_t size() const override { return log_.size; }
  Status close() override {
    log_.is_closed = true;
    return {};
  }

 private:
  Log& log_;
};

std::unique_ptr<EarlySync> file_over(Log& log, Executor& executor) {
  return std::make_unique<EarlySync>(std::make_unique<LoggedFile>(log), executor, kEvery);
}

TEST(EarlySync, SyncsWhileTheFileIsWritten) {
  Log log;
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const auto file = file_over(log, *threads);
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    const std::string piece(100, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(file->append(piece).ok());
    expected += piece;
    // One early sync for each thousand bytes, if the threads come to it.
    while (log.syncs < (i + 1) / 10) std::this_thread::yield();
  }
  EXPECT_EQ(log.syncs, 5);
  ASSERT_TRUE(file->append("end").ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(log.syncs, 6);
  EXPECT_EQ(log.durable, 5003u);
  EXPECT_EQ(file->size(), 5003u);
  EXPECT_EQ(log.bytes, expected + "end");
  EXPECT_TRUE(file->close().ok());
}

TEST(EarlySync, NeedsNoFreeThread) {
  Log log;
  const std::unique_ptr<Executor> events = make_thread_executor(1, 1);
  LazyExecutor busy(*events);
  {
    const auto file = file_over(log, busy);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(file->append(std::string(100, 'x')).ok());
    EXPECT_EQ(busy.queued(), 1u);  // not one after the other, each of which would find nothing to do
    EXPECT_EQ(log.syncs, 0);
    ASSERT_TRUE(file->sync().ok());
    EXPECT_EQ(log.syncs, 1);
    EXPECT_EQ(log.durable, 5000u);
    ASSERT_TRUE(file->close().ok());
  }
  busy.run_all();  // the file is closed, which LoggedFile looks at
  EXPECT_EQ(log.syncs, 1);
}

TEST(EarlySync, FailsForEverAfterAFailure) {
  Log log;
  log.failing = 0;
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const auto file = file_over(log, *threads);
  ASSERT_TRUE(file->append(std::string(kEvery, 'x')).ok());
  while (log.syncs < 1) std::this_thread::yield();
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(file->sync().is(Code::kIoError));  // the file's own sync would succeed
  EXPECT_TRUE(file->append("y").is(Code::kIoError));
  EXPECT_TRUE(file->close().is(Code::kIoError));
  EXPECT_EQ(log.syncs, 1);
  EXPECT_EQ(log.bytes.size(), kEvery);
}

TEST(EarlySync, ReportsAFailureOfTheLastEarlySync) {
  Log log;
  log.failing = 1;
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const auto file = file_over(log, *threads);
  for (int i = 1; i <= 2; ++i) {
    ASSERT_TRUE(file->append(std::string(kEvery, 'x')).ok());
    while (log.syncs < i) std::this_thread::yield();
  }
  EXPECT_TRUE(file->sync().is(Code::kIoError));
}

TEST(EarlySync, AppendsWhileAThreadSyncs) {
  Log log;
  log.is_held = true;
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const auto file = file_over(log, *threads);
  ASSERT_TRUE(file->append(std::string(kEvery, 'x')).ok());
  while (!log.waits) std::this_thread::yield();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(file->append(std::string(100, 'y')).ok());
  EXPECT_EQ(log.syncs, 0);
  log.is_held = false;
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(log.syncs, 2);  // the early one, and this one: what was appended meanwhile needs it
  EXPECT_EQ(log.durable, 6000u);
}

TEST(EarlySync, WaitsForTheThreadThatSyncsBeforeItEnds) {
  Log log;
  log.is_held = true;
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  auto file = file_over(log, *threads);
  ASSERT_TRUE(file->append(std::string(kEvery, 'x')).ok());
  while (!log.waits) std::this_thread::yield();
  std::atomic<bool> has_ended{false};
  std::thread ending([&] {
    file.reset();
    has_ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(has_ended);
  log.is_held = false;
  ending.join();
  EXPECT_EQ(log.syncs, 1);
}

TEST(EarlySync, GivesTheSameWithSingleSteps) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Log log;
    ManualClock clock;
    StepExecutor steps(seed, clock);
    const auto file = file_over(log, steps);
    for (int i = 0; i < 30; ++i) {
      ASSERT_TRUE(file->append(std::string(100, 'x')).ok());
      steps.checkpoint();
    }
    ASSERT_TRUE(file->sync().ok());
    ASSERT_TRUE(file->close().ok());
    EXPECT_EQ(log.durable, 3000u);
    EXPECT_LE(log.syncs, 4);
  }
}

}  // namespace
}  // namespace cellar::testing
