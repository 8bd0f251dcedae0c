// Goal: what only the real file system can show: permissions, links, devices, other processes, an ending
// process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "cellar/file_system.h"
#include "tests/support/scratch_directory.h"

namespace cellar::testing {

namespace {

class PosixFileSystem : public ::testing::Test {
 protected:
  std::unique_ptr<Directory> open() {
    auto opened = posix_file_system().open_directory(scratch_ / "store", true);
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    return std::move(opened).value();
  }

  // Runs `body` in a child and returns its exit status, or minus the signal that ended it.
  template <class Body>
  static int in_child(Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  unsigned mode_of(const std::string& path) {
    struct stat facts {};
    EXPECT_EQ(stat(path.c_str(), &facts), 0);
    return facts.st_mode & 0777;
  }

  std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  ScratchDirectory scratch_;
};

}  // namespace

// Recovery tells by it whether the machine has been restarted since a log was written.
TEST_F(PosixFileSystem, TellsRunsOfTheMachineApart) {
  std::string expected;
  if (!(std::ifstream("/proc/sys/kernel/random/boot_id") >> expected))
    GTEST_SKIP() << "this system does not tell its runs apart";
  EXPECT_EQ(posix_file_system().boot_identity(), expected);
}

TEST_F(PosixFileSystem, FilesAreTheirOwners) {
  auto store = open();
  ASSERT_TRUE(store->create("f", {}).ok());
  ASSERT_TRUE(store->directory("d", true).ok());
  ASSERT_TRUE(store->lock("LOCK").ok());
  EXPECT_EQ(mode_of(scratch_ / "store"), 0700U);
  EXPECT_EQ(mode_of(scratch_ / "store/f"), 0600U);
  EXPECT_EQ(mode_of(scratch_ / "store/d"), 0700U);
  EXPECT_EQ(mode_of(scratch_ / "store/LOCK"), 0600U);
}

TEST_F(PosixFileSystem, HolesOfASparseFileAreKnown) {
  auto store = open();
  const std::string path = scratch_ / "store/sparse";
  constexpr uint64_t kSize = uint64_t{1} << 40;
  constexpr uint64_t kWritten = kSize / 2;
  std::ofstream(path).close();
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(kSize)), 0);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(kWritten));
    file << "here";
  }
  const std::unique_ptr<ReadableFile> file = store->open("sparse").value();
  EXPECT_EQ(file->size(), kSize);
  uint64_t first_end = 0;
  const uint64_t first = file->next_data(0, first_end).value();
  EXPECT_LE(first, kWritten) << "no byte but zeros is left out";
  EXPECT_GE(first_end, kWritten + 4);
  uint64_t end = 0;
  EXPECT_LE(file->next_data(kWritten + 1, end).value(), kWritten + 1);
  // Where the medium of the tests knows holes, they are not part of the data.
  if (first > 0) {
    EXPECT_LT(first_end - first, 1u << 20);
    EXPECT_EQ(file->next_data(first_end, end).value(), kSize);
    EXPECT_EQ(end, kSize);
  }
  EXPECT_EQ(file->next_data(kSize + 5, end).value(), kSize);
}

TEST_F(PosixFileSystem, AMappingOutlivesItsFileAndItsName) {
  auto store = open();
  std::string bytes(100'000, 'a');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  std::ofstream(scratch_ / "store/f", std::ios::binary) << bytes;
  std::ofstream(scratch_ / "store/empty").close();
  EXPECT_EQ(store->open("empty").value()->map().value(), nullptr);
  const std::shared_ptr<const char> mapping = store->open("f").value()->map().value();
  ASSERT_NE(mapping, nullptr);
  ASSERT_TRUE(store->unlink("f").ok());
  EXPECT_EQ(std::string_view(mapping.get(), bytes.size()), bytes);
}

TEST_F(PosixFileSystem, LinksAndDevicesAreNotFollowed) {
  auto store = open();
  ASSERT_EQ(symlink("/etc/passwd", (scratch_ / "store/link").c_str()), 0);
  ASSERT_EQ(symlink("/tmp", (scratch_ / "store/dirlink").c_str()), 0);
  ASSERT_EQ(mkfifo((scratch_ / "store/pipe").c_str(), 0600), 0);
  EXPECT_EQ(store->open("link").status().code(), Code::kIoError);
  EXPECT_NE(store->open("link").status().hint(), "");
  EXPECT_EQ(store->create("link", {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(store->lock("link").status().code(), Code::kIoError);
  EXPECT_EQ(store->directory("dirlink", true).status().code(), Code::kIoError);
  EXPECT_EQ(store->open("pipe").status().code(), Code::kIoError) << "and it does not hang";
  EXPECT_EQ(store->lock("pipe").status().code(), Code::kIoError);
  for (const DirectoryEntry& entry : *store->list()) {
    EXPECT_FALSE(entry.is_directory) << entry.name;
    EXPECT_EQ(entry.bytes, 0U);
  }
}

TEST_F(PosixFileSystem, ADirectoryStaysTheSameWhenItIsMoved) {
  auto store = open();
  ASSERT_EQ(rename((scratch_ / "store").c_str(), (scratch_ / "moved").c_str()), 0);
  ASSERT_TRUE(store->create("f", {}).ok());
  EXPECT_EQ(access((scratch_ / "moved/f").c_str(), F_OK), 0);
}

TEST_F(PosixFileSystem, DescriptorsDoNotLeak) {
  const auto count = [] {
    int open_ones = 0;
    for (int fd = 0; fd < 256; ++fd) open_ones += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return open_ones;
  };
  auto store = open();
  const int before = count();
  for (int i = 0; i < 5; ++i) {
    (void)store->list();
    (void)store->open("missing");
    (void)store->open("LOCK");
    (void)store->lock("LOCK");
    (void)store->create("x", {});
    (void)store->create("x", {});
    (void)store->create("m", 4096);
    (void)store->create("huge", uint64_t{1} << 62);
    (void)store->directory("d", true);
    (void)store->directory("x", true);
    (void)posix_file_system().open_file(scratch_.path());
    (void)store->unlink("m");
  }
  EXPECT_EQ(count(), before);
}

TEST_F(PosixFileSystem, DescriptorsAreClosedOnExec) {
  auto store = open();
  auto plain = store->create("p", {});
  auto mapped = store->create("m", 4096);
  auto reader = store->open("p");
  auto lock = store->lock("LOCK");
  for (int fd = 3; fd < 256; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    char target[256] = {};
    const ssize_t length =
        readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target - 1);
    const bool ours = length > 0 && std::string_view(target).find(scratch_.path()) != std::string_view::npos;
    EXPECT_TRUE(flags < 0 || !ours || (flags & FD_CLOEXEC) != 0) << target;
  }
}

TEST_F(PosixFileSystem, AFullMediumIsNoSpaceAndTheFileIsDead) {
  auto store = open();
  EXPECT_EQ(in_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{10'000, 10'000};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
              auto file = store->create("f", {});
              if (!file.ok() || !(*file)->append(std::string(6'000, 'x')).ok()) return 2;
              const Status full = (*file)->append(std::string(6'000, 'x'));
              if (full.ok() || (*file)->size() != 6'000) return 3;
              if ((*file)->append("x").to_text() != full.to_text()) return 4;
              if ((*file)->sync().ok() || (*file)->close().ok()) return 5;
              const Status mapped = store->create("m", 100'000).status();
              if (!mapped.is(Code::kNoSpace)) return 6;
              return 0;
            }),
            0);
  EXPECT_EQ(content(scratch_ / "store/f").size(), 6'000U) << "what did not fit was taken back";
  EXPECT_EQ(access((scratch_ / "store/m").c_str(), F_OK), -1) << "nothing is left of a failed creation";
}

TEST_F(PosixFileSystem, AMappedAppendSurvivesKill) {
  auto store = open();
  EXPECT_EQ(in_child([&] {
              auto file = store->create("m", 1 << 16);
              if (!file.ok() || !(*file)->append("acknowledged....").ok()) return 1;
              return kill(getpid(), SIGKILL);
            }),
            -SIGKILL);
  const std::string found = content(scratch_ / "store/m");
  EXPECT_EQ(found.size(), size_t{1} << 16) << "nobody cut it";
  EXPECT_EQ(found.substr(0, 17), std::string("acknowledged....\0", 17));
}

// Returns the memory of the process that belongs to files.
uint64_t file_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t all = 0, resident = 0, of_files = 0;
  statm >> all >> resident >> of_files;
  return of_files * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns what a file takes of the disk.
uint64_t disk_bytes(const std::string& path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0);
  return static_cast<uint64_t>(facts.st_blocks) * 512;
}

TEST_F(PosixFileSystem, AMappedFileTakesTheDiskAsItIsMadeReady) {
  auto store = open();
  auto file = store->create("m", 64 << 20);
  ASSERT_TRUE(file.ok());
  const std::string path = scratch_ / "store/m";
  EXPECT_EQ(content(path).size(), size_t{64} << 20);
  EXPECT_LE(disk_bytes(path), uint64_t{1} << 20);
  ASSERT_TRUE((*file)->make_ready(4 << 20).ok());
  EXPECT_GE(disk_bytes(path), uint64_t{4} << 20) << "appends cannot fail for want of room";
  EXPECT_LE(disk_bytes(path), uint64_t{5} << 20);
  ASSERT_TRUE((*file)->append(std::string(8 << 20, 'x')).ok()) << "an append makes itself ready";
  EXPECT_GE(disk_bytes(path), uint64_t{8} << 20);
  EXPECT_TRUE((*file)->close().ok());
  EXPECT_EQ(content(path), std::string(8 << 20, 'x'));
}

TEST_F(PosixFileSystem, OnlyPagesAroundTheEndOfAMappedFileTakeMemory) {
  auto store = open();
  constexpr uint64_t kBytes = 64 << 20, kAhead = 4 << 20;
  auto file = store->create("m", kBytes);
  ASSERT_TRUE(file.ok());
  const uint64_t before = file_bytes();
  const std::string piece(64 << 10, 'x');
  uint64_t most = 0;
  for (uint64_t at = 0; at < kBytes; at += piece.size()) {
    if (at % (kAhead / 2) == 0) {
      ASSERT_TRUE((*file)->make_ready(at + kAhead).ok());
    }
    ASSERT_TRUE((*file)->append(piece).ok());
    most = std::max(most, file_bytes());
  }
  EXPECT_LT(most, before + 2 * kAhead);
  EXPECT_TRUE((*file)->sync().ok());
  EXPECT_TRUE((*file)->close().ok());
  EXPECT_EQ(content(scratch_ / "store/m"), std::string(kBytes, 'x'));
}

TEST_F(PosixFileSystem, AFileThatIsCutUnderAReaderIsAShortRead) {
  auto store = open();
  {
    auto file = store->create("f", {});
    ASSERT_TRUE((*file)->append(std::string(100, 'x')).ok());
  }
  auto reader = store->open("f");
  ASSERT_EQ(truncate((scratch_ / "store/f").c_str(), 50), 0);
  char into[100];
  EXPECT_EQ((*reader)->read(0, 100, into).code(), Code::kCorruption);
  const ReadRequest requests[] = {{0, 10, into}, {40, 20, into}};
  EXPECT_EQ((*reader)->read_many(requests).code(), Code::kCorruption);
}

TEST_F(PosixFileSystem, MessagesNameTheFileAndTheReason) {
  auto store = open();
  EXPECT_EQ(store->open("x").status().to_text(),
            "not_found: cannot open " + store->path() + "/x: No such file or directory");
  EXPECT_EQ(posix_file_system().open_directory("", true).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(posix_file_system().open_file("").status().code(), Code::kInvalidArgument);
}

TEST_F(PosixFileSystem, AnotherProcessIsRefusedAndToldWhoHoldsTheLock) {
  auto store = open();
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto held = store->lock("LOCK");
    char byte = held.ok() ? 'y' : 'n';
    (void)!write(ready[1], &byte, 1);
    (void)!read(done[0], &byte, 1);
    _exit(0);  // without giving it back: the system does
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  const Status refused = store->lock("LOCK").status();
  EXPECT_EQ(refused.code(), Code::kLocked);
  EXPECT_NE(refused.message().find("process " + std::to_string(child) + " ("), std::string_view::npos)
      << refused.to_text();
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(store->lock("LOCK").ok()) << "a holder that died holds nothing";
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

TEST_F(PosixFileSystem, AForkedChildNeitherGetsNorReleasesItsParentsLock) {
  auto store = open();
  auto held = store->lock("LOCK");
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(in_child([&] {
              if (!store->lock("LOCK").status().is(Code::kLocked)) return 1;
              held = Status::aborted("destroyed in the child");
              return 0;
            }),
            0);
  EXPECT_EQ(store->lock("LOCK").status().code(), Code::kLocked);
  // A descriptor of a process that never saw ours: the lock still stands in the kernel.
  EXPECT_EQ(in_child([&] {
              const int fd = ::open((scratch_ / "store/LOCK").c_str(), O_RDWR);
              struct flock range {};
              range.l_type = F_WRLCK;
              return fcntl(fd, F_OFD_SETLK, &range) == 0 ? 1 : 0;
            }),
            0);
}

TEST_F(PosixFileSystem, ClosingAnotherDescriptorOfTheLockFileReleasesNothing) {
  auto store = open();
  auto held = store->lock("LOCK");
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(store->open("LOCK").ok());  // opened and closed: with classic locks this would drop the lock
  EXPECT_EQ(in_child([&] {
              const int fd = ::open((scratch_ / "store/LOCK").c_str(), O_RDWR);
              struct flock range {};
              range.l_type = F_WRLCK;
              return fcntl(fd, F_OFD_SETLK, &range) == 0 ? 1 : 0;
            }),
            0);
}

TEST_F(PosixFileSystem, ALinkToTheLockFileIsTheSameLock) {
  auto store = open();
  auto held = store->lock("LOCK");
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(store->link("LOCK", *store, "LOCK2").ok());
  EXPECT_EQ(store->lock("LOCK2").status().code(), Code::kLocked);
}

}  // namespace cellar::testing
