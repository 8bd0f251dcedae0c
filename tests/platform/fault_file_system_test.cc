// Goal: rules strike the calls they name, once or from there on, and the log tells what happened.
#include "tests/support/fault_file_system.h"

#include <gtest/gtest.h>

#include "base/memory_file_system.h"

namespace cellar::testing {

namespace {

class FaultFileSystemTest : public ::testing::Test {
 protected:
  // A small workload; the text of the first failure, or "ok".
  std::string work() {
    const Status status = [&]() -> Status {
      CELLAR_TRY_ASSIGN(auto top, files_.open_directory("/store", true));
      CELLAR_TRY_ASSIGN(auto log, top->directory("log", true));
      CELLAR_TRY_ASSIGN(auto file, log->create("000001", {}));
      CELLAR_TRY(file->append("0123456789"));
      CELLAR_TRY(file->sync());
      CELLAR_TRY(file->append("abc"));
      CELLAR_TRY(file->sync());
      CELLAR_TRY(file->close());
      CELLAR_TRY(log->sync());
      CELLAR_TRY(log->rename("000001", "000002"));
      CELLAR_TRY(log->link("000002", *top, "copy"));
      CELLAR_TRY_ASSIGN(auto reader, log->open("000002"));
      char into[13];
      CELLAR_TRY(reader->read(0, 13, into));
      CELLAR_TRY(log->list().status());
      CELLAR_TRY(top->lock("LOCK").status());
      CELLAR_TRY(log->unlink("000002"));
      CELLAR_TRY(top->remove_directory("log"));
      return top->sync();
    }();
    return status.to_text();
  }

  void restart() {
    memory_ = make_memory_file_system();
    files_.~FaultFileSystem();
    new (&files_) FaultFileSystem(*memory_);
  }

  std::unique_ptr<FileSystem> memory_ = make_memory_file_system();
  FaultFileSystem files_{*memory_};
};

std::string all_of(FileSystem& files, const std::string& path) {
  auto file = files.open_file(path);
  if (!file.ok()) return file.status().to_text();
  std::string bytes((*file)->size(), '?');
  EXPECT_TRUE((*file)->read(0, bytes.size(), bytes.data()).ok());
  return bytes;
}

}  // namespace

TEST_F(FaultFileSystemTest, WithoutRulesItOnlyWatches) {
  EXPECT_EQ(work(), "ok");
  EXPECT_EQ(
      files_.log(),
      "directory . make\ndirectory log make\ncreate log/000001\nappend log/000001 10 bytes\nsync log/000001\n"
      "append log/000001 3 bytes\nsync log/000001\nclose log/000001\ndir_sync log\n"
      "rename log/000001 -> log/000002\nlink log/000002 -> copy\nopen log/000002\n"
      "read log/000002 13 bytes at 0\nlist log\nlock LOCK\nunlink log/000002\nremove_directory log\n"
      "dir_sync .\n");
  EXPECT_EQ(files_.count(), 18U);
  EXPECT_EQ(files_.count(FileOperation::kSync), 2U);
  EXPECT_EQ(files_.count(kAllReads), 3U);
  EXPECT_EQ(files_.count(kAllOperations, "log/*"), 11U);
  EXPECT_EQ(files_.struck(), 0U);
}

TEST_F(FaultFileSystemTest, EveryCallCanFail) {
  ASSERT_EQ(work(), "ok");
  const uint64_t calls = files_.count();
  for (uint64_t k = 1; k <= calls; ++k) {
    restart();
    files_.fail(kAllOperations, "*", k, Code::kNoSpace);
    EXPECT_TRUE(work().starts_with("no_space: injected failure of ")) << k;
    EXPECT_EQ(files_.struck(), 1U);
    EXPECT_EQ(files_.count(), k) << "the workload stops at its first failure";
  }
}

TEST_F(FaultFileSystemTest, ADeadFileStaysDead) {
  files_.fail(FileOperation::kSync, "log/*", 1);
  auto file =
      std::move((*files_.open_directory("/s", true))->directory("log", true)).value()->create("f", {});
  ASSERT_TRUE((*file)->append("abc").ok());
  const Status failed = (*file)->sync();
  EXPECT_EQ(failed.to_text(), "io_error: injected failure of sync log/f");
  files_.clear();
  EXPECT_EQ((*file)->append("def").to_text(), failed.to_text());
  EXPECT_EQ((*file)->sync().to_text(), failed.to_text());
  EXPECT_EQ((*file)->close().to_text(), failed.to_text());
  EXPECT_EQ(all_of(*memory_, "/s/log/f"), "abc");
}

TEST_F(FaultFileSystemTest, OnceOrFromThereOnOrAlways) {
  auto top = std::move(files_.open_directory("/s", true)).value();
  files_.inject({.on = FileOperation::kList, .nth = 2});
  EXPECT_TRUE(top->list().ok());
  EXPECT_FALSE(top->list().ok());
  EXPECT_TRUE(top->list().ok());
  files_.clear();
  files_.inject({.on = FileOperation::kList, .nth = 2, .sticky = true});
  EXPECT_TRUE(top->list().ok());
  EXPECT_FALSE(top->list().ok());
  EXPECT_FALSE(top->list().ok());
  files_.clear();
  files_.fail(FileOperation::kList, ".", 0);
  EXPECT_FALSE(top->list().ok());
  EXPECT_FALSE(top->list().ok());
  files_.clear();
  files_.fail(FileOperation::kList, "elsewhere", 0);
  EXPECT_TRUE(top->list().ok());
}

TEST_F(FaultFileSystemTest, AShortAppendLeavesItsBeginning) {
  auto top = std::move(files_.open_directory("/s", true)).value();
  files_.inject({.on = FileOperation::kAppend, .nth = 2, .code = Code::kNoSpace, .short_append = 2});
  auto file = std::move(top->create("f", {})).value();
  EXPECT_TRUE(file->append("abc").ok());
  EXPECT_EQ(file->append("defg").code(), Code::kNoSpace);
  EXPECT_EQ(file->size(), 3U);
  file.reset();
  EXPECT_EQ(all_of(*memory_, "/s/f"), "abcde");
}

TEST_F(FaultFileSystemTest, ASwallowedCallSaysOk) {
  auto inner = std::make_unique<FaultFileSystem>(*memory_);
  FaultFileSystem outer(*inner);
  outer.swallow({FileOperation::kSync, FileOperation::kDirectorySync}, "*");
  auto top = std::move(outer.open_directory("/s", true)).value();
  auto file = std::move(top->create("f", {})).value();
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(top->sync().ok());
  EXPECT_EQ(inner->count({FileOperation::kSync, FileOperation::kDirectorySync}), 0U);
  EXPECT_EQ(outer.log({FileOperation::kSync, FileOperation::kDirectorySync}),
            "sync f  swallowed\ndir_sync .  swallowed\n");
  outer.clear();
  outer.swallow(FileOperation::kSync, "f", 2);
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_EQ(inner->count(FileOperation::kSync), 2U);
}

TEST_F(FaultFileSystemTest, AFlippedBitIsOneBit) {
  auto top = std::move(files_.open_directory("/s", true)).value();
  {
    auto file = std::move(top->create("f", {})).value();
    ASSERT_TRUE(file->append(std::string(100, '\0')).ok());
  }
  files_.inject({.on = FileOperation::kRead, .kind = Fault::Kind::kFlipBit});
  auto file = std::move(top->open("f")).value();
  std::string bytes(100, '?');
  ASSERT_TRUE(file->read(0, 100, bytes.data()).ok());
  int ones = 0;
  for (const char c : bytes) ones += __builtin_popcount(static_cast<uint8_t>(c));
  EXPECT_EQ(ones, 1);
  ASSERT_TRUE(file->read(0, 100, bytes.data()).ok());
  EXPECT_EQ(bytes, std::string(100, '\0'));
}

TEST_F(FaultFileSystemTest, TheHookSeesEachCallBeforeItIsDone) {
  std::string seen;
  files_.before_each([&](const FileCall& call) {
    seen += std::to_string(call.number) + " " + std::string(operation_name(call.operation)) + " " +
            call.name + "\n";
    if (call.operation == FileOperation::kCreate) files_.fail(kAllOperations, "*", 1);
  });
  auto top = std::move(files_.open_directory("/s", true)).value();
  EXPECT_FALSE(top->create("f", {}).ok());
  EXPECT_EQ(seen, "1 directory .\n2 create f\n");
}

TEST(NameMatches, Globs) {
  EXPECT_TRUE(name_matches("*", "log/000001"));
  EXPECT_TRUE(name_matches("log/*", "log/000001"));
  EXPECT_TRUE(name_matches("000*", "log/000001")) << "its last component";
  EXPECT_TRUE(name_matches("*/f/*", "tables/3/f/ab"));
  EXPECT_TRUE(name_matches("00000?", "log/000001"));
  EXPECT_FALSE(name_matches("log/*", "tables/log"));
  EXPECT_FALSE(name_matches("log", "log/000001"));
  EXPECT_FALSE(name_matches("", "x"));
}

}  // namespace cellar::testing
