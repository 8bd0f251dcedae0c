// Goal: a forked child may use and destroy the engine that it inherited without touching a file of it. Using
// it is an error, and the parent goes on. Method: real files and real forks. The child does its worst and
// exits; the parent writes on, closes, and opens the store again.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "cellar/cellar.h"
#include "tests/support/address_space.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/scratch_directory.h"

// ThreadSanitizer ends a forked child that starts threads.
#if defined(__SANITIZE_THREAD__)
#define CELLAR_CHILD_STARTS_NO_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CELLAR_CHILD_STARTS_NO_THREADS 1
#endif
#endif

namespace cellar::testing {
namespace {

// Runs `body` in a child; its result as an exit status.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);  // a hang is a failure, too
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

struct Opened {
  std::unique_ptr<Engine> engine;
  std::shared_ptr<Table> table;
};

Opened open_at(const std::string& path) {
  Opened opened;
  opened.engine = Engine::open(path, {.create_if_missing = true}).value();
  FamilyOptions family;
  family.name = "d";
  opened.table = opened.engine->open_or_create_table("t", {.families = {family}}).value();
  return opened;
}

class ForkTest : public ::testing::Test {
 protected:
  ScratchDirectory scratch_;
  std::string path_ = scratch_.path() + "/store";
  Opened opened_ = open_at(path_);

  Status put(int i) {
    return opened_.table->put(Put("r" + std::to_string(i)).add("d", "q", std::string(100, 'v')));
  }
  void go_on_and_reopen(int rows) {
    for (int i = 0; i < rows; ++i) ASSERT_TRUE(put(i).ok());
    ASSERT_TRUE(opened_.engine->close().ok());
    opened_ = {};
    opened_ = open_at(path_);
    for (int i = 0; i < rows; ++i)
      ASSERT_TRUE(opened_.table->exists(Get("r" + std::to_string(i))).value()) << i;
  }
};

TEST_F(ForkTest, ChildThatDestroysTheEngineHarmsNothing) {
  ASSERT_TRUE(put(0).ok());
  const auto snapshot = opened_.engine->snapshot().value();
  auto scanner = opened_.table->scan(Scan()).value();
  const int result = in_child([&] {
    scanner.reset();
    const_cast<std::shared_ptr<const Snapshot>&>(snapshot).reset();
    opened_.table.reset();
    opened_.engine.reset();
    return 0;
  });
  EXPECT_EQ(result, 0);
  scanner.reset();
  const_cast<std::shared_ptr<const Snapshot>&>(snapshot).reset();
  go_on_and_reopen(2000);
}

TEST_F(ForkTest, UsingItInTheChildIsAnError) {
  ASSERT_TRUE(put(0).ok());
  const int result = in_child([&] {
    if (!put(1).is(Code::kAborted)) return 1;
    if (!opened_.table->get(Get("r0")).status().is(Code::kAborted)) return 2;
    if (!opened_.engine->flush().is(Code::kAborted)) return 3;
    if (!opened_.engine->snapshot().status().is(Code::kAborted)) return 4;
    if (!opened_.engine->drop_table("t").is(Code::kAborted)) return 5;
    if (!opened_.engine->close().is(Code::kAborted)) return 6;
#if !defined(CELLAR_CHILD_STARTS_NO_THREADS)
    if (Engine::open(path_).ok()) return 7;  // the parent has it
#endif
    return 0;
  });
  EXPECT_EQ(result, 0);
  go_on_and_reopen(100);
}

#if !defined(CELLAR_CHILD_STARTS_NO_THREADS)
TEST_F(ForkTest, ChildMayOpenAnotherStore) {
  const int result = in_child([&] {
    Opened own = open_at(scratch_.path() + "/other");
    return own.table->put(Put("r").add("d", "q", "v")).ok() && own.engine->close().ok() ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
  go_on_and_reopen(10);
}
#endif

// docs/resumption.md says so. The acknowledged write before the cut is there when the store is opened again.
#if !defined(CELLAR_CHILD_STARTS_NO_THREADS)
TEST_F(ForkTest, ALogThatSomebodyTruncatesEndsTheProcessThatAppends) {
  const std::string path = scratch_.path() + "/other";
  const int result = in_child([&] {
    Opened own = open_at(path);
    const WriteOptions durable{.durability = Durability::kFsyncWal};
    if (!own.table->put(Put("r0").add("d", "q", "v"), durable).ok()) return 41;
    constexpr uint64_t kBytesKept = 8192;  // the header of a segment and the first record are shorter
    for (const auto& segment : std::filesystem::directory_iterator(path + "/wal"))
      if (segment.file_size() > kBytesKept) std::filesystem::resize_file(segment.path(), kBytesKept);
    for (int i = 0; i < 10'000; ++i)
      if (!own.table->put(Put("later").add("d", "q", std::string(100, 'v'))).ok()) return 42;
    return 43;
  });
  // A sanitizer reports the signal, and exits with 1.
  EXPECT_EQ(result, kSanitized ? 1 : 100 + SIGBUS);
  const Opened other = open_at(path);
  EXPECT_TRUE(other.table->exists(Get("r0")).value());
}
#endif

TEST_F(ForkTest, LockThatWasReplacedEndsWrites) {
  ASSERT_TRUE(put(0).ok());
  ASSERT_EQ(unlink((path_ + "/LOCK").c_str()), 0);
  const Status flushed = opened_.engine->flush();
  EXPECT_TRUE(flushed.is(Code::kLocked)) << flushed.to_text();
  EXPECT_TRUE(put(1).is(Code::kReadOnly));
  EXPECT_TRUE(opened_.engine->resume().is(Code::kReadOnly)) << "only opening the store again ends that";
  EXPECT_FALSE(opened_.engine->close().ok());
  opened_ = {};
  opened_ = open_at(path_);
  EXPECT_TRUE(opened_.table->exists(Get("r0")).value());
}

// resume() would begin a generation of the manifest that the second opener has begun already.
TEST_F(ForkTest, AStoreThatSomebodyElseHasOpenIsNotResumed) {
  FaultFileSystem files(posix_file_system());
  EngineOptions options;
  options.environment.files = &files;
  opened_ = {};
  auto engine = Engine::open(path_, options).value();
  auto table = engine->open_table("t").value();
  ASSERT_TRUE(table->put(Put("r0").add("d", "q", "v")).ok());
  files.fail(FileOperation::kSync, "MANIFEST-*", 1);
  EXPECT_FALSE(table->flush().ok());
  ASSERT_EQ(unlink((path_ + "/LOCK").c_str()), 0);
  Opened second = open_at(path_);
  ASSERT_TRUE(second.table->put(Put("second").add("d", "q", "v")).ok());
  ASSERT_TRUE(second.engine->flush().ok());
  const Status resumed = engine->resume();
  EXPECT_FALSE(resumed.ok());
  EXPECT_NE(resumed.to_text().find("lock"), std::string::npos) << resumed.to_text();
  table.reset();
  engine.reset();
  ASSERT_TRUE(second.engine->close().ok());
  second = open_at(path_);
  for (const char* row : {"r0", "second"}) EXPECT_TRUE(second.table->exists(Get(row)).value()) << row;
}

// The second opener has a lock of its own, and makes files that the first one must not touch.
TEST_F(ForkTest, TheFirstOfTwoThatHaveAStoreOpenLosesIt) {
  ASSERT_TRUE(put(0).ok());
  ASSERT_EQ(unlink((path_ + "/LOCK").c_str()), 0);
  Opened second = open_at(path_);
  ASSERT_TRUE(second.table->put(Put("second").add("d", "q", "v")).ok());
  ASSERT_TRUE(second.engine->flush().ok());
  const Status flushed = opened_.engine->flush();
  EXPECT_TRUE(flushed.is(Code::kLocked)) << flushed.to_text();
  EXPECT_FALSE(opened_.table->major_compact().ok());
  EXPECT_FALSE(opened_.engine->close().ok());
  opened_ = {};
  ASSERT_TRUE(second.table->put(Put("later").add("d", "q", "v")).ok());
  ASSERT_TRUE(second.engine->flush().ok());
  ASSERT_TRUE(second.engine->close().ok());
  second = open_at(path_);
  for (const char* row : {"r0", "second", "later"})
    EXPECT_TRUE(second.table->exists(Get(row)).value()) << row;
}

}  // namespace
}  // namespace cellar::testing
