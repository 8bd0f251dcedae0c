// Goal: the number of open files stays within its bound, and every file can be read at any time.
// Method: more files than handles, read in turns and by several threads. The file system below counts the
// opens and the files that are open.
#include "engine/store/file_handles.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/memory_file_system.h"
#include "tests/support/fault_file_system.h"

namespace cellar::testing {
namespace {

constexpr int kFiles = 10;

class FileHandlesTest : public ::testing::Test {
 protected:
  FileHandlesTest() {
    directory_ = files_.open_directory("d", true).value();
    for (int i = 0; i < kFiles; ++i) {
      auto file = directory_->create(std::to_string(i), {}).value();
      EXPECT_TRUE(file->append("content " + std::to_string(i)).ok());
      EXPECT_TRUE(file->close().ok());
    }
  }

  static std::string content(const ReadableFile& file) {
    std::string bytes(file.size(), '\0');
    const Status status = file.read(0, bytes.size(), bytes.data());
    return status.ok() ? bytes : status.to_text();
  }

  std::unique_ptr<FileSystem> memory_ = make_memory_file_system();
  FaultFileSystem files_{*memory_};
  std::shared_ptr<Directory> directory_;
};

TEST_F(FileHandlesTest, KeepsTheBoundAndReadsEverything) {
  FileHandles handles(3);
  std::vector<std::unique_ptr<ReadableFile>> open;
  for (int i = 0; i < kFiles; ++i) {
    open.push_back(handles.open(directory_, std::to_string(i)).value());
    EXPECT_LE(files_.open_readers(), 3U);
  }
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < kFiles; ++i) {
      EXPECT_EQ(content(*open[static_cast<size_t>(i)]), "content " + std::to_string(i));
      EXPECT_LE(files_.open_readers(), 3U);
    }
  open.clear();
  EXPECT_EQ(files_.open_readers(), 0U);
}

TEST_F(FileHandlesTest, KeepsWhatIsUsed) {
  FileHandles handles(2);
  const auto often = handles.open(directory_, "0").value();
  const auto once = handles.open(directory_, "1").value();
  const uint64_t opened = files_.count(FileOperation::kOpen);
  EXPECT_EQ(content(*often), "content 0");
  const auto third = handles.open(directory_, "2").value();  // closes "1", used longest ago
  EXPECT_EQ(content(*often), "content 0");
  EXPECT_EQ(files_.count(FileOperation::kOpen), opened + 1);
  EXPECT_EQ(content(*once), "content 1");
  EXPECT_EQ(files_.count(FileOperation::kOpen), opened + 2);
}

TEST_F(FileHandlesTest, ReportsWhatCannotBeOpenedAgain) {
  FileHandles handles(1);
  EXPECT_TRUE(handles.open(directory_, "none").status().is(Code::kNotFound));
  const auto first = handles.open(directory_, "0").value();
  const auto second = handles.open(directory_, "1").value();
  files_.fail(FileOperation::kOpen, "0", 1);
  EXPECT_NE(content(*first), "content 0");
  EXPECT_EQ(content(*first), "content 0");  // the failure was not kept
}

TEST_F(FileHandlesTest, ThreadsShareTheHandles) {
  FileHandles handles(2);
  std::vector<std::unique_ptr<ReadableFile>> open;
  for (int i = 0; i < kFiles; ++i) open.push_back(handles.open(directory_, std::to_string(i)).value());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const int which = (i * 7 + t * 3) % kFiles;
        EXPECT_EQ(content(*open[static_cast<size_t>(which)]), "content " + std::to_string(which));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(files_.open_readers(), 2U);
}

}  // namespace
}  // namespace cellar::testing
