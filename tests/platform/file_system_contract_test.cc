// Goal: every file system keeps the contract of cellar/file_system.h.
// Method: one suite, four file systems: the real one, that in memory, and the two for tests without faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/memory_file_system.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/scratch_directory.h"

namespace cellar::testing {

namespace {

enum class Which { kPosix, kMemory, kFault, kCrash };

std::string read_all(const ReadableFile& file) {
  std::string bytes(file.size(), '?');
  const Status status = file.read(0, bytes.size(), bytes.data());
  return status.ok() ? bytes : status.to_text();
}

std::string read_all(Directory& directory, std::string_view name) {
  auto file = directory.open(name);
  return file.ok() ? read_all(**file) : file.status().to_text();
}

std::string names(Directory& directory) {
  auto entries = directory.list();
  if (!entries.ok()) return entries.status().to_text();
  std::string text;
  for (const DirectoryEntry& entry : *entries) {
    text += (text.empty() ? "" : " ") + entry.name +
            (entry.is_directory ? "/" : ":" + std::to_string(entry.bytes));
  }
  return text;
}

class FileSystemContract : public ::testing::TestWithParam<Which> {
 protected:
  void SetUp() override {
    memory_ = make_memory_file_system();
    fault_ = std::make_unique<FaultFileSystem>(*memory_);
    top_ = open(root(), true);
  }

  FileSystem& files() {
    switch (GetParam()) {
      case Which::kPosix:
        return posix_file_system();
      case Which::kMemory:
        return *memory_;
      case Which::kFault:
        return *fault_;
      case Which::kCrash:
        return crash_;
    }
    return *memory_;
  }

  std::string root() const { return GetParam() == Which::kPosix ? scratch_ / "top" : "/top"; }

  std::unique_ptr<Directory> open(const std::string& path, bool create = false) {
    auto opened = files().open_directory(path, create);
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    return opened.ok() ? std::move(opened).value() : nullptr;
  }

  std::unique_ptr<WritableFile> create(std::string_view name, uint64_t mapped_bytes = 0) {
    auto file = top_->create(name, mapped_bytes);
    EXPECT_TRUE(file.ok()) << file.status().to_text();
    return file.ok() ? std::move(file).value() : nullptr;
  }

  void write(std::string_view name, std::string_view bytes) {
    auto file = create(name);
    EXPECT_TRUE(file->append(bytes).ok());
    EXPECT_TRUE(file->close().ok());
  }

  ScratchDirectory scratch_;
  std::unique_ptr<FileSystem> memory_;
  std::unique_ptr<FaultFileSystem> fault_;
  CrashFileSystem crash_;
  std::unique_ptr<Directory> top_;
};

TEST_P(FileSystemContract, WhatIsAppendedIsRead) {
  auto file = create("a");
  EXPECT_EQ(file->size(), 0U);
  EXPECT_TRUE(file->append("one ").ok());
  EXPECT_TRUE(file->append("").ok());
  EXPECT_TRUE(file->append("two").ok());
  EXPECT_EQ(file->size(), 7U);
  EXPECT_TRUE(file->sync().ok());
  EXPECT_EQ(read_all(*top_, "a"), "one two");
  EXPECT_TRUE(file->close().ok());
  EXPECT_TRUE(file->close().ok()) << "a second close does nothing";
  EXPECT_EQ(file->size(), 7U);
  EXPECT_EQ(read_all(*top_, "a"), "one two");
}

TEST_P(FileSystemContract, LargeAppendsArriveWhole) {
  std::string bytes;
  for (int i = 0; bytes.size() < 3'000'000; ++i) bytes += std::to_string(i);
  write("large", bytes);
  EXPECT_EQ(read_all(*top_, "large"), bytes);
}

TEST_P(FileSystemContract, ReadsArePositionedAndBounded) {
  write("a", "0123456789");
  auto file = top_->open("a");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 10U);
  char into[16] = {};
  EXPECT_TRUE((*file)->read(3, 4, into).ok());
  EXPECT_EQ(std::string_view(into, 4), "3456");
  EXPECT_TRUE((*file)->read(10, 0, into).ok());
  for (const auto& [offset, bytes] :
       {std::pair<uint64_t, size_t>{7, 4}, {10, 1}, {11, 0}, {UINT64_MAX, 2}, {2, SIZE_MAX}}) {
    const Status status = (*file)->read(offset, bytes, into);
    EXPECT_EQ(status.code(), Code::kCorruption) << offset;
    EXPECT_NE(status.message().find("short read"), std::string_view::npos);
  }
  char a[3], b[3];
  const ReadRequest requests[] = {{7, 3, a}, {0, 3, b}};
  EXPECT_TRUE((*file)->read_many(requests).ok());
  EXPECT_EQ(std::string_view(a, 3), "789");
  EXPECT_EQ(std::string_view(b, 3), "012");
  const ReadRequest beyond[] = {{0, 3, b}, {8, 3, a}};
  EXPECT_EQ((*file)->read_many(beyond).code(), Code::kCorruption);
  EXPECT_TRUE((*file)->read_many({}).ok());
  (*file)->will_need(0, 10);
  (*file)->will_need(100, 10);
  (*file)->will_need(0, UINT64_MAX);
}

TEST_P(FileSystemContract, AReaderKeepsTheSizeAtOpening) {
  auto file = create("a");
  EXPECT_TRUE(file->append("abc").ok());
  auto reader = top_->open("a");
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(file->append("def").ok());
  EXPECT_EQ((*reader)->size(), 3U);
  EXPECT_EQ(read_all(**reader), "abc");
}

TEST_P(FileSystemContract, AReaderTellsThePresentSize) {
  auto plain = create("a");
  auto mapped = create("m", 4096);
  EXPECT_TRUE(plain->append("abc").ok());
  EXPECT_TRUE(mapped->append("12345678").ok());
  auto of_plain = top_->open("a");
  auto of_mapped = top_->open("m");
  ASSERT_TRUE(of_plain.ok() && of_mapped.ok());
  EXPECT_EQ((*of_plain)->present_size().value(), 3U);
  EXPECT_EQ((*of_mapped)->present_size().value(), 4096U);
  EXPECT_TRUE(plain->append("def").ok());
  EXPECT_TRUE(mapped->close().ok());
  EXPECT_EQ((*of_plain)->present_size().value(), 6U) << "it has grown";
  EXPECT_EQ((*of_mapped)->present_size().value(), 8U) << "it was cut";
  EXPECT_EQ((*of_mapped)->size(), 4096U);
}

TEST_P(FileSystemContract, ACreatedNameMustBeNew) {
  write("a", "old");
  EXPECT_EQ(top_->create("a", {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(top_->create("a", 64).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(read_all(*top_, "a"), "old");
  ASSERT_TRUE(top_->directory("d", true).ok());
  EXPECT_EQ(top_->create("d", {}).status().code(), Code::kInvalidArgument);
}

TEST_P(FileSystemContract, NamesAreSingleComponents) {
  const std::string wrong[] = {"", ".", "..", "a/b", "/a", std::string("a\0b", 3), std::string(256, 'x')};
  for (const std::string& name : wrong) {
    EXPECT_EQ(top_->create(name, {}).status().code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->open(name).status().code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->unlink(name).code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->rename(name, "x").code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->rename("x", name).code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->link(name, *top_, "x").code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->link("x", *top_, name).code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->directory(name, true).status().code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->remove_directory(name).code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->lock(name).status().code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(top_->lock_shared(name).status().code(), Code::kInvalidArgument) << name;
    EXPECT_FALSE(check_file_name(name).ok());
  }
  const std::string odd[] = {std::string(255, 'x'), "...", " ", "a\nb", "ä", "\x80"};
  for (const std::string& name : odd) {
    write(name, "x");
    EXPECT_EQ(read_all(*top_, name), "x") << name;
  }
}

TEST_P(FileSystemContract, WhatIsMissingIsNotFound) {
  EXPECT_EQ(top_->open("x").status().code(), Code::kNotFound);
  EXPECT_EQ(top_->unlink("x").code(), Code::kNotFound);
  EXPECT_EQ(top_->rename("x", "y").code(), Code::kNotFound);
  EXPECT_EQ(top_->link("x", *top_, "y").code(), Code::kNotFound);
  EXPECT_EQ(top_->directory("x", false).status().code(), Code::kNotFound);
  EXPECT_EQ(top_->remove_directory("x").code(), Code::kNotFound);
  EXPECT_EQ(files().open_directory(root() + "/x", false).status().code(), Code::kNotFound);
  EXPECT_EQ(files().open_directory(root() + "/x/y", true).status().code(), Code::kNotFound)
      << "only the last is made";
  EXPECT_EQ(files().open_file(root() + "/x").status().code(), Code::kNotFound);
}

TEST_P(FileSystemContract, FilesAndDirectoriesAreNotConfused) {
  write("f", "x");
  ASSERT_TRUE(top_->directory("d", true).ok());
  EXPECT_EQ(top_->open("d").status().code(), Code::kIoError);
  EXPECT_EQ(top_->unlink("d").code(), Code::kIoError);
  EXPECT_EQ(top_->lock("d").status().code(), Code::kIoError);
  EXPECT_EQ(top_->directory("f", true).status().code(), Code::kIoError);
  EXPECT_EQ(top_->remove_directory("f").code(), Code::kIoError);
  EXPECT_EQ(top_->rename("f", "d").code(), Code::kIoError);
  EXPECT_EQ(names(*top_), "d/ f:1");
}

TEST_P(FileSystemContract, RenameReplaces) {
  write("new", "new bytes");
  write("current", "old bytes");
  auto reader = top_->open("current");
  EXPECT_TRUE(top_->rename("new", "current").ok());
  EXPECT_EQ(names(*top_), "current:9");
  EXPECT_EQ(read_all(*top_, "current"), "new bytes");
  EXPECT_EQ(read_all(**reader), "old bytes") << "who has it open keeps it";
  EXPECT_TRUE(top_->rename("current", "current").ok());
  EXPECT_EQ(read_all(*top_, "current"), "new bytes");
}

TEST_P(FileSystemContract, UnlinkLeavesItToThoseWhoHaveItOpen) {
  auto file = create("a");
  EXPECT_TRUE(file->append("abc").ok());
  auto reader = top_->open("a");
  EXPECT_TRUE(top_->unlink("a").ok());
  EXPECT_EQ(names(*top_), "");
  EXPECT_TRUE(file->append("def").ok());
  EXPECT_TRUE(file->close().ok());
  EXPECT_EQ(read_all(**reader), "abc");
  write("a", "again");
  EXPECT_EQ(read_all(*top_, "a"), "again");
}

TEST_P(FileSystemContract, LinksAreSecondNames) {
  write("a", "bytes");
  auto sub = top_->directory("sub", true);
  ASSERT_TRUE(sub.ok());
  EXPECT_TRUE(top_->link("a", **sub, "b").ok());
  EXPECT_EQ(top_->link("a", **sub, "b").code(), Code::kInvalidArgument) << "an existing name is not replaced";
  EXPECT_TRUE(top_->unlink("a").ok());
  EXPECT_EQ(read_all(**sub, "b"), "bytes");
  EXPECT_TRUE((*sub)->sync_file("b").ok());
  EXPECT_EQ(top_->sync_file("a").code(), Code::kNotFound);
  EXPECT_EQ(top_->sync_file("../sub/b").code(), Code::kInvalidArgument);
  const auto other = make_memory_file_system();
  auto elsewhere = other->open_directory("/x", true);
  write("c", "bytes");
  EXPECT_EQ(top_->link("c", **elsewhere, "c").code(), Code::kNotSupported);
}

TEST_P(FileSystemContract, ListsAreSortedAndComplete) {
  for (const char* name : {"b", "a", "c10", "c9", "B"}) write(name, name);
  ASSERT_TRUE(top_->directory("aa", true).ok());
  EXPECT_EQ(names(*top_), "B:1 a:1 aa/ b:1 c10:3 c9:2");
  EXPECT_TRUE(top_->sync().ok());
  EXPECT_EQ(names(*open(root())), "B:1 a:1 aa/ b:1 c10:3 c9:2");
}

TEST_P(FileSystemContract, SubDirectories) {
  auto sub = top_->directory("sub", true);
  ASSERT_TRUE(sub.ok());
  EXPECT_TRUE(top_->directory("sub", true).ok()) << "it may be there";
  EXPECT_TRUE(top_->directory("sub", false).ok());
  ASSERT_TRUE((*sub)->create("f", {}).ok());
  EXPECT_EQ(top_->remove_directory("sub").code(), Code::kIoError) << "it is not empty";
  EXPECT_TRUE((*sub)->unlink("f").ok());
  EXPECT_TRUE(top_->remove_directory("sub").ok());
  EXPECT_EQ(names(*top_), "");
  EXPECT_EQ((*sub)->create("f", {}).status().code(), Code::kNotFound) << "it is gone";
}

TEST_P(FileSystemContract, PathsLeadToDirectoriesAndFiles) {
  write("f", "bytes");
  auto file = files().open_file(root() + "/f");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read_all(**file), "bytes");
  EXPECT_EQ(files().open_file(root()).status().code(), Code::kIoError);
  EXPECT_EQ(names(*open(root() + "/", true)), "f:5");
  EXPECT_NE(top_->path().find("top"), std::string::npos);
}

TEST_P(FileSystemContract, MappedAppendsAreReadWithZerosBehind) {
  auto file = create("m", 4096);
  EXPECT_EQ(names(*top_), "m:4096");
  EXPECT_TRUE(file->append("12345678").ok());
  EXPECT_TRUE(file->append("abcdefghijklmnop").ok());
  EXPECT_EQ(file->size(), 24U);
  EXPECT_TRUE(file->sync().ok());
  const std::string bytes = read_all(*top_, "m");
  EXPECT_EQ(bytes, "12345678abcdefghijklmnop" + std::string(4096 - 24, '\0'));
  EXPECT_TRUE(file->append("tail....").ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(file->close().ok());
  EXPECT_TRUE(file->close().ok());
  EXPECT_EQ(names(*top_), "m:32");
  EXPECT_EQ(read_all(*top_, "m"), "12345678abcdefghijklmnoptail....");
}

TEST_P(FileSystemContract, AMappedFileThatIsFullSaysSoAndIsDead) {
  auto file = create("m", 4096);
  EXPECT_TRUE(file->append(std::string(4088, 'x')).ok());
  const Status full = file->append("0123456789abcdef");
  EXPECT_EQ(full.code(), Code::kNoSpace);
  EXPECT_EQ(file->size(), 4088U) << "nothing was appended";
  EXPECT_EQ(file->append("12345678").to_text(), full.to_text());
  EXPECT_EQ(file->sync().to_text(), full.to_text());
  EXPECT_EQ(file->close().to_text(), full.to_text());
  file.reset();
  EXPECT_EQ(names(*top_), "m:4088");
}

TEST_P(FileSystemContract, AMappedFileMayBeFilledToTheLastByte) {
  auto file = create("m", 4096);
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(file->append(std::string(4096, 'x')).ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(file->close().ok());
  EXPECT_EQ(read_all(*top_, "m"), std::string(4096, 'x'));
}

// Room is made ready in uneven steps, or not at all, or past the end of the mapping.
TEST_P(FileSystemContract, AppendsMayComeBeforeRoomIsMadeReady) {
  constexpr uint64_t kBytes = 3 * 65536 + 24;
  auto file = create("m", kBytes);
  std::string expected;
  for (uint64_t step = 0; expected.size() + 1000 <= kBytes; ++step) {
    if (step % 3 == 1) {
      EXPECT_TRUE(file->make_ready(expected.size() + step * 777).ok());
    }
    const std::string piece(1000, static_cast<char>('a' + step % 26));
    ASSERT_TRUE(file->append(piece).ok());
    expected += piece;
    if (step % 50 == 0) {
      EXPECT_TRUE(file->sync().ok());
    }
  }
  EXPECT_TRUE(file->make_ready(kBytes).ok());
  EXPECT_TRUE(file->make_ready(UINT64_MAX).ok());
  EXPECT_EQ(file->size(), expected.size());
  EXPECT_TRUE(file->close().ok());
  EXPECT_EQ(read_all(*top_, "m"), expected);
  auto plain = create("p");
  EXPECT_TRUE(plain->make_ready(1 << 20).ok());
  EXPECT_EQ(names(*top_), "m:" + std::to_string(expected.size()) + " p:0") << "it changes no plain file";
}

TEST_P(FileSystemContract, RoomIsMadeReadyBesideAppendAndSync) {
  constexpr uint64_t kBytes = 4 << 20;
  auto file = create("m", kBytes);
  std::atomic<bool> stop = false;
  std::thread helper([&] {
    while (!stop) EXPECT_TRUE(file->make_ready(file->size() + 300'000).ok());
  });
  std::thread syncer([&] {
    while (!stop) EXPECT_TRUE(file->sync().ok());
  });
  std::string expected;
  for (int i = 0; expected.size() + 4000 <= kBytes; ++i) {
    const std::string piece(4000, static_cast<char>('a' + i % 26));
    EXPECT_TRUE(file->append(piece).ok());
    expected += piece;
  }
  stop = true;
  helper.join();
  syncer.join();
  EXPECT_TRUE(file->close().ok());
  EXPECT_EQ(read_all(*top_, "m"), expected);
}

TEST_P(FileSystemContract, ADestroyedFileIsClosed) {
  {
    auto plain = create("p");
    EXPECT_TRUE(plain->append("abc").ok());
    auto mapped = create("m", 1 << 16);
    EXPECT_TRUE(mapped->append("12345678").ok());
    (void)create("e", 4096);
  }
  EXPECT_EQ(names(*top_), "e:0 m:8 p:3");
}

TEST_P(FileSystemContract, AReaderSeesAMappedPieceWholeOrNotAtAll) {
  auto file = create("m", 1 << 20);
  auto reader = top_->open("m");
  ASSERT_TRUE(reader.ok());
  std::thread writer([&] {
    for (int i = 0; i < 2000; ++i)
      EXPECT_TRUE(file->append(std::string(400, static_cast<char>('a' + i % 26))).ok());
  });
  std::string piece(400, '?');
  for (uint64_t i = 0; i < 2000;) {
    ASSERT_TRUE((*reader)->read(i * 400, 8, piece.data()).ok());
    if (piece[0] == '\0') continue;
    ASSERT_TRUE((*reader)->read(i * 400, 400, piece.data()).ok());
    ASSERT_EQ(piece, std::string(400, static_cast<char>('a' + i % 26)));
    ++i;
  }
  writer.join();
}

TEST_P(FileSystemContract, SyncMayRunBesideAppend) {
  for (const uint64_t mapped_bytes : {uint64_t{0}, uint64_t{1} << 20}) {
    auto file = create(mapped_bytes > 0 ? "m" : "p", mapped_bytes);
    std::thread syncer([&] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(file->sync().ok());
    });
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(file->append("abcdefgh").ok());
    syncer.join();
    EXPECT_TRUE(file->close().ok());
  }
  EXPECT_EQ(names(*top_), "m:8000 p:8000");
}

TEST_P(FileSystemContract, LocksExclude) {
  auto first = top_->lock("LOCK");
  ASSERT_TRUE(first.ok()) << first.status().to_text();
  const Status second = top_->lock("LOCK").status();
  EXPECT_EQ(second.code(), Code::kLocked);
  EXPECT_NE(second.message().find("LOCK"), std::string_view::npos);
  EXPECT_NE(second.hint(), "");
  EXPECT_EQ(open(root())->lock("LOCK").status().code(), Code::kLocked) << "by whatever handle";
  EXPECT_TRUE(top_->lock("OTHER").ok());
  first = Status::aborted("released");
  EXPECT_TRUE(top_->lock("LOCK").ok());
  EXPECT_TRUE(top_->lock("LOCK").ok());
}

TEST_P(FileSystemContract, SharedLocksStandBesideEachOtherAgainstExclusiveOnes) {
  EXPECT_EQ(top_->lock_shared("LOCK").status().code(), Code::kNotFound) << "it makes nothing";
  {
    auto exclusive = top_->lock("LOCK");
    ASSERT_TRUE(exclusive.ok());
    EXPECT_EQ(top_->lock_shared("LOCK").status().code(), Code::kLocked);
  }
  auto first = top_->lock_shared("LOCK");
  auto second = top_->lock_shared("LOCK");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(top_->lock("LOCK").status().code(), Code::kLocked);
  first = Status::aborted("released");
  EXPECT_EQ(top_->lock("LOCK").status().code(), Code::kLocked) << "one is left";
  second = Status::aborted("released");
  EXPECT_TRUE(top_->lock("LOCK").ok());
}

TEST_P(FileSystemContract, FreeSpaceIsKnown) {
  auto free = top_->free_bytes();
  ASSERT_TRUE(free.ok());
  EXPECT_GT(*free, 0U);
}

TEST_P(FileSystemContract, ThreadsMayShareADirectory) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        auto file = top_->create(name, {});
        ASSERT_TRUE(file.ok());
        EXPECT_TRUE((*file)->append(name).ok());
        EXPECT_TRUE((*file)->close().ok());
        EXPECT_TRUE(top_->rename(name, name + "r").ok());
        EXPECT_EQ(read_all(*top_, name + "r"), name);
        EXPECT_TRUE(top_->list().ok());
        EXPECT_TRUE(i % 2 == 1 || top_->unlink(name + "r").ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(top_->list()->size(), 60U);
}

std::string name_of(const ::testing::TestParamInfo<Which>& which) {
  static constexpr const char* kNames[] = {"Posix", "Memory", "Fault", "Crash"};
  return kNames[static_cast<size_t>(which.param)];
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemContract,
                         ::testing::Values(Which::kPosix, Which::kMemory, Which::kFault, Which::kCrash),
                         name_of);

}  // namespace

}  // namespace cellar::testing
