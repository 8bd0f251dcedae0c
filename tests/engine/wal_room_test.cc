// Goal: the log has room ready for its leader and takes little memory for it. A full medium loses nothing.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "engine/log/directory.h"
#include "tests/engine/wal_log.h"
#include "tests/engine/wal_support.h"
#include "tests/support/fault_file_system.h"

namespace cellar::testing {
namespace {

// From here on, `ready` tells how far the pages of the segment were made ready.
void watch_ready(Log& log, uint64_t segment, uint64_t& ready) {
  log.fault.before_each([segment, &ready](const FileCall& call) {
    if (call.operation == FileOperation::kMakeReady && call.name.ends_with(segment_name(segment)))
      ready = std::stoull(call.detail.substr(call.detail.rfind(' ') + 1));
  });
}

// A segment of 32 MiB, of which the executor makes nothing ready: the leader does.
TEST(WalRoom, RoomThatCannotBeMadeReadyIsMetBeforeAnythingIsAppended) {
  Log log;
  LazyExecutor lazy(log.executor);
  log.options.segment_bytes = 32 << 20;
  log.wal = std::move(Wal::create(*log.root, lazy, log.options)).value();
  while (log.wal->end().segment < 6) ASSERT_TRUE(log.append(100'000).ok());  // the sixth has 32 MiB
  log.fault.inject({.on = FileOperation::kMakeReady, .nth = 1, .sticky = true, .code = Code::kNoSpace});
  Status status;
  while (status.ok() && log.wal->end().segment == 6) status = log.append(100'000);
  EXPECT_TRUE(status.is(Code::kNoSpace)) << status.to_text();
  EXPECT_NE(status.message().find("log segment 6"), std::string::npos) << status.to_text();
  EXPECT_LT(log.wal->end().offset, uint64_t{2} << 20) << "it fails where it is needed";
  EXPECT_TRUE(log.wal->health().ok()) << "nothing is unknown";
  EXPECT_TRUE(log.append(100'000).is(Code::kNoSpace));
  EXPECT_TRUE(log.wal->sync().ok());
  lazy.run_all();
  EXPECT_TRUE(log.wal->health().ok()) << "a job that fails leaves it to the leader";
  EXPECT_TRUE(is_run(log.read().sequences, 1, log.next - 1));
  log.fault.clear();
  while (log.wal->end().segment == 6) ASSERT_TRUE(log.append(100'000).ok());
  log.facts.clean_close = *log.wal->close_cleanly();
  EXPECT_TRUE(is_run(log.read().sequences, 1, log.next - 1));
}

// Jobs come in time, so the leader asks for nothing itself, and a few megabytes are ready ahead of it.
TEST(WalRoom, JobsMakeRoomAheadOfTheLeader) {
  Log log;
  log.options.segment_bytes = 64 << 20;
  ASSERT_TRUE(log.open().ok());
  uint64_t ready = 0;
  watch_ready(log, 6, ready);
  while (log.wal->end().segment < 6) ASSERT_TRUE(log.append(100'000).ok());
  while (log.wal->end().segment == 6) {
    log.executor.settle();
    ASSERT_LE(ready, log.wal->end().offset + (uint64_t{25} << 20)) << "pages that are ready take memory";
    ASSERT_GE(log.wal->preallocated_bytes(), ready);
    ASSERT_LE(log.wal->preallocated_bytes(), ready + (uint64_t{8} << 20)) << "with the next segment";
    ASSERT_TRUE(log.append(1'000'000).ok());
    if (log.wal->end().segment != 6) break;
    ASSERT_GE(ready, log.wal->end().offset) << "the leader did not wait for pages";
  }
}

// The first megabytes of a segment are ready when the leader comes to it.
TEST(WalRoom, TheNextSegmentHasRoomBeforeItIsTheCurrentOne) {
  Log log;
  log.options.segment_bytes = 32 << 20;
  ASSERT_TRUE(log.open().ok());
  uint64_t ready = 0;
  watch_ready(log, 7, ready);
  while (log.wal->end().segment < 7) {
    EXPECT_LE(ready, uint64_t{8} << 20) << "pages that are ready take memory";
    ASSERT_TRUE(log.append(1'000'000).ok());
    log.executor.settle();
    if (log.wal->end().segment == 6 && ready != 0) {
      EXPECT_EQ(ready, uint64_t{8} << 20);
    }
  }
  EXPECT_GE(ready, uint64_t{8} << 20);
}

// A log that is closed takes its next segment away, in which a job may be making room.
TEST(WalRoom, AJobAndAClosingLogMeet) {
  const std::unique_ptr<Executor> threads = make_thread_executor(2, 1);
  for (int i = 0; i < 20; ++i) {
    Log log;
    log.options.segment_bytes = 4 << 20;
    log.wal = std::move(Wal::create(*log.root, *threads, log.options)).value();
    while (log.wal->end().segment < 4) ASSERT_TRUE(log.append(200'000).ok());
    while (log.wal->end().offset < uint64_t{2} << 20) ASSERT_TRUE(log.append(200'000).ok());
    for (int spin = 0; spin < i * 20; ++spin) std::this_thread::yield();  // the fifth is prepared meanwhile
    const Result<LogPosition> end = log.wal->close_cleanly();
    ASSERT_TRUE(end.ok()) << end.status().to_text();
    log.facts.clean_close = *end;
    EXPECT_TRUE(is_run(log.read().sequences, 1, log.next - 1));
  }
}

}  // namespace
}  // namespace cellar::testing
