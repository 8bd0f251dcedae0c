// Goal: a block trace gives back what was recorded, and a damaged one says so. Method: round trips through
// files in memory; every prefix and every flipped byte of a trace; foreign files; threads; files that fail.
#include "cache/block_trace.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/coding.h"
#include "base/memory_file_system.h"
#include "base/mutex.h"
#include "base/random.h"
#include "cache/block_cache.h"
#include "tests/support/byte_files.h"
#include "tests/support/manual_clock.h"

namespace cellar::testing {
namespace {

using Uses = std::vector<BlockUse>;

constexpr uint64_t kFile = uint64_t{1} << kBlockIdFileShift;

struct Read {
  Status status;
  Uses uses;
  BlockTraceStart start;
  bool whole = false;
  uint64_t torn_bytes = 0;
  uint64_t lost = 0;
};

Read read_all(std::unique_ptr<ReadableFile> file) {
  Read read;
  Result<std::unique_ptr<BlockTraceReader>> reader = BlockTraceReader::open(std::move(file), "t");
  read.status = reader.status();
  if (!reader.ok()) return read;
  read.start = (*reader)->start();
  Uses chunk;
  while (true) {
    const Result<bool> more = (*reader)->next(chunk);
    read.status = more.status();
    if (!more.ok() || !*more) break;
    read.uses.insert(read.uses.end(), chunk.begin(), chunk.end());
  }
  read.whole = (*reader)->whole();
  read.torn_bytes = (*reader)->torn_bytes();
  read.lost = (*reader)->lost();
  return read;
}

Read read_bytes(std::string_view bytes) { return read_all(std::make_unique<ViewFile>(bytes)); }

class BlockTraceTest : public ::testing::Test {
 protected:
  BlockTraceTest() { static_cast<void>(files_->open_directory("d", true).value()); }

  std::shared_ptr<BlockTraceWriter> create(const std::string& path = "d/t") {
    auto writer = BlockTraceWriter::create(
        *files_, clock_, path,
        {.started_ms = 1700000000123, .capacity_bytes = 64 << 20, .shards = 8, .policy = "slru(single=10%)"});
    EXPECT_TRUE(writer.ok()) << writer.status().to_text();
    began_us_ = clock_.steady_us();
    return *writer;
  }
  void record(BlockTraceWriter& writer, const Uses& uses) {
    for (const BlockUse& use : uses) {
      clock_.advance_us(began_us_ + static_cast<int64_t>(use.time_us) - clock_.steady_us());
      writer.record(use.kind, use.id, use.bytes, use.in_memory);
    }
  }
  std::string bytes_of(const std::string& path = "d/t") {
    const auto file = files_->open_file(path).value();
    std::string bytes(file->size(), '\0');
    EXPECT_TRUE(file->read(0, bytes.size(), bytes.data()).ok());
    return bytes;
  }
  // A trace of a few chunks would be too long for the sweeps: one chunk of uses, and the end.
  std::string small_trace() {
    const auto writer = create();
    record(*writer, some_uses(5, 40));
    EXPECT_TRUE(writer->finish().ok());
    return bytes_of();
  }
  static Uses some_uses(uint64_t seed, size_t count) {
    Random random(seed);
    Uses uses;
    uint64_t time_us = 0;
    for (size_t i = 0; i < count; ++i) {
      time_us += random.below(random.one_in(10) ? 1'000'000 : 20);
      BlockUse use = {.kind = static_cast<BlockUseKind>(random.below(5)),
                      .in_memory = random.one_in(4),
                      .time_us = time_us,
                      .id = kFile * (1 + random.below(3)) + random.below(uint64_t{1} << random.below(41)),
                      .bytes = random.one_in(2) ? 16'500 : random.below(1 << 20)};
      if (random.one_in(50)) use.id = random.next();
      uses.push_back(use);
    }
    return uses;
  }

  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  ManualClock clock_;
  int64_t began_us_ = 0;  // of the trace that was created last
};

TEST_F(BlockTraceTest, GivesBackWhatWasRecorded) {
  for (const size_t count : {0, 1, 1000, 200'000}) {
    const std::string path = "d/" + std::to_string(count);
    const Uses uses = some_uses(count + 1, count);
    const auto writer = create(path);
    record(*writer, uses);
    ASSERT_TRUE(writer->finish().ok());
    ASSERT_TRUE(writer->finish().ok());
    writer->record(BlockUseKind::kHit, 1, 1, false);  // too late: ignored
    const Read read = read_all(files_->open_file(path).value());
    ASSERT_TRUE(read.status.ok()) << read.status.to_text();
    EXPECT_EQ(read.uses, uses);
    EXPECT_TRUE(read.whole);
    EXPECT_EQ(read.lost, 0u);
    EXPECT_EQ(read.torn_bytes, 0u);
    EXPECT_EQ(read.start.started_ms, 1700000000123);
    EXPECT_EQ(read.start.capacity_bytes, 64u << 20);
    EXPECT_EQ(read.start.shards, 8u);
    EXPECT_EQ(read.start.policy, "slru(single=10%)");
  }
}

TEST_F(BlockTraceTest, IsCompact) {
  const auto writer = create();
  constexpr uint64_t kUses = 100'000;
  for (uint64_t i = 0; i < kUses; ++i) {
    clock_.advance_us(3);
    writer->record(BlockUseKind::kHit, kFile + i % 1000 * 16'384, 16'500, false);
  }
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_LT(bytes_of().size(), 6 * kUses);
}

// A process that stops may leave any prefix.
TEST_F(BlockTraceTest, AcceptsATornEnd) {
  const std::string bytes = small_trace();
  const Uses uses = read_bytes(bytes).uses;
  uint64_t with_uses = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    const Read read = read_bytes(std::string_view(bytes).substr(0, length));
    EXPECT_FALSE(read.whole) << length;
    if (!read.status.ok()) {
      EXPECT_LT(length, 60u) << "only the start is needed: " << read.status.to_text();
      continue;
    }
    EXPECT_TRUE(read.uses.empty() || read.uses == uses) << length;
    with_uses += read.uses.empty() ? 0 : 1;
  }
  EXPECT_GT(with_uses, 0u);
}

TEST_F(BlockTraceTest, FindsEveryFlippedByte) {
  const std::string bytes = small_trace();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char flip : {'\x01', '\x80'}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const Read read = read_bytes(damaged);
      if (!read.status.ok()) {
        EXPECT_TRUE(at < 8 ? read.status.is(Code::kInvalidArgument) : read.status.is(Code::kCorruption))
            << at << ": " << read.status.to_text();
      } else {
        EXPECT_FALSE(read.whole) << at << ": the damage was not seen";
        EXPECT_GT(read.torn_bytes, 0u) << at;
      }
    }
  }
  const Read more = read_bytes(bytes + "x");
  EXPECT_TRUE(more.status.is(Code::kCorruption)) << more.status.to_text();
}

TEST_F(BlockTraceTest, RefusesForeignFiles) {
  for (const std::string& bytes : {std::string(), std::string("CELLAR"), std::string(5000, 'x')}) {
    const Status status = read_bytes(bytes).status;
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status.to_text();
    EXPECT_EQ(status.message(), "t is not a block trace");
  }
}

TEST_F(BlockTraceTest, NeedsANewFileInADirectory) {
  const auto writer = create();
  const auto again = BlockTraceWriter::create(*files_, clock_, "d/t", {});
  EXPECT_EQ(again.status().code(), Code::kInvalidArgument);
  EXPECT_NE(again.status().message().find("block trace d/t"), std::string_view::npos);
  const auto nowhere = BlockTraceWriter::create(*files_, clock_, "nowhere/t", {});
  EXPECT_EQ(nowhere.status().code(), Code::kNotFound) << nowhere.status().to_text();
}

// Threads share a trace; another one ends it meanwhile.
TEST_F(BlockTraceTest, TakesUsesOfManyThreads) {
  constexpr uint64_t kEach = 60'000;
  const auto writer = create();
  const auto work = [&](uint64_t thread) {
    for (uint64_t i = 0; i < kEach; ++i)
      writer->record(BlockUseKind::kMiss, kFile * thread + i, 1000 + thread, false);
  };
  std::thread first(work, 1);
  std::thread second(work, 2);
  first.join();
  second.join();
  ASSERT_TRUE(writer->finish().ok());
  const Read read = read_all(files_->open_file("d/t").value());
  ASSERT_TRUE(read.status.ok()) << read.status.to_text();
  EXPECT_TRUE(read.whole);
  EXPECT_EQ(read.uses.size() + read.lost, 2 * kEach);
  std::array<uint64_t, 3> next = {0, 0, 0};
  for (const BlockUse& use : read.uses) {
    const uint64_t thread = use.id >> kBlockIdFileShift;
    ASSERT_TRUE(thread == 1 || thread == 2);
    EXPECT_EQ(use.bytes, 1000 + thread);
    EXPECT_GE(use.id - kFile * thread, next[thread]) << "the uses of a thread keep their order";
    next[thread] = use.id - kFile * thread + 1;
  }
}

TEST_F(BlockTraceTest, MayEndWhileThreadsRecord) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = "d/r" + std::to_string(round);
    const auto writer = create(path);
    std::atomic<bool> stop{false};
    std::thread other([&] {
      for (uint64_t i = 0; !stop; ++i) writer->record(BlockUseKind::kHit, kFile + i, 100, false);
    });
    std::this_thread::yield();
    EXPECT_TRUE(writer->finish().ok());
    stop = true;
    other.join();
    const Read read = read_all(files_->open_file(path).value());
    EXPECT_TRUE(read.status.ok()) << read.status.to_text();
    EXPECT_TRUE(read.whole);
  }
}

// A file system with one file that waits, or fails, as it is told.
class StubbornFiles final : public FileSystem {
 public:
  class File final : public WritableFile {
   public:
    explicit File(StubbornFiles& files) : files_(files) {}
    Status append(std::string_view bytes) override {
      std::unique_lock lock(files_.mutex_);
      files_.held_up_ = files_.waits_;
      files_.changed_.notify_all();
      files_.changed_.wait(lock, [&] { return !files_.waits_; });
      if (files_.fails_) return Status::no_space("the test's disk is full");
      files_.bytes_ += bytes;
      return {};
    }
    Status sync() override { return {}; }
    uint64_t size() const override { return files_.bytes_.size(); }
    Status close() override { return {}; }

   private:
    StubbornFiles& files_;
  };
  class OnlyDirectory final : public Directory {
   public:
    explicit OnlyDirectory(StubbornFiles& files) : files_(files) {}
    Result<std::unique_ptr<WritableFile>> create(std::string_view, uint64_t) override {
      return std::unique_ptr<WritableFile>(std::make_unique<File>(files_));
    }
    Result<std::unique_ptr<ReadableFile>> open(std::string_view) override { return unsupported(); }
    Result<std::vector<DirectoryEntry>> list() override { return unsupported(); }
    Status rename(std::string_view, std::string_view) override { return unsupported(); }
    Status unlink(std::string_view) override { return unsupported(); }
    Status link(std::string_view, Directory&, std::string_view) override { return unsupported(); }
    Result<std::unique_ptr<Directory>> directory(std::string_view, bool) override { return unsupported(); }
    Status remove_directory(std::string_view) override { return unsupported(); }
    Status sync() override { return {}; }
    Result<std::unique_ptr<FileLock>> lock(std::string_view) override { return unsupported(); }
    Result<std::unique_ptr<FileLock>> lock_shared(std::string_view) override { return unsupported(); }
    Result<uint64_t> free_bytes() override { return unsupported(); }
    std::string path() const override { return "d"; }

   private:
    static Status unsupported() { return Status::not_supported("not in this test"); }
    StubbornFiles& files_;
  };

  Result<std::unique_ptr<Directory>> open_directory(const std::string&, bool) override {
    return std::unique_ptr<Directory>(std::make_unique<OnlyDirectory>(*this));
  }
  Result<std::unique_ptr<ReadableFile>> open_file(const std::string&) override {
    return Status::not_supported("not in this test");
  }
  void set(bool waits, bool fails) {
    const std::lock_guard lock(mutex_);
    waits_ = waits;
    fails_ = fails;
    changed_.notify_all();
  }
  // Returns once a thread waits in the file.
  void wait_for_thread() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_up_; });
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false;
  bool fails_ = false;
  bool held_up_ = false;
  std::string bytes_;
};

// One thread is held up in the file. The others go on, and what they record is kept, up to a bound.
TEST_F(BlockTraceTest, LosesUsesRatherThanWait) {
  StubbornFiles files;
  const auto writer = BlockTraceWriter::create(files, clock_, "d/t", {}).value();
  files.set(true, false);
  constexpr uint64_t kEach = 1'000'000;
  std::thread held_up([&] {
    for (uint64_t i = 0; i < kEach; ++i) writer->record(BlockUseKind::kHit, kFile * 5 + i * 7, i, false);
  });
  files.wait_for_thread();
  for (uint64_t i = 0; i < kEach; ++i) writer->record(BlockUseKind::kHit, kFile * 9 + i * 7, i, false);
  files.set(false, false);
  held_up.join();
  ASSERT_TRUE(writer->finish().ok());
  const Read read = read_bytes(files.bytes());
  ASSERT_TRUE(read.status.ok()) << read.status.to_text();
  EXPECT_TRUE(read.whole);
  EXPECT_GT(read.lost, 0u);
  EXPECT_GT(read.uses.size(), 100'000u);
  EXPECT_EQ(read.uses.size() + read.lost, 2 * kEach);
}

// A thread that holds a mutex leaves the writing to the next one that does not.
TEST_F(BlockTraceTest, IsNotWrittenUnderAMutex) {
  StubbornFiles files;
  const auto writer = BlockTraceWriter::create(files, clock_, "d/t", {}).value();
  const uint64_t begun = files.bytes().size();
  uint64_t recorded = 0;
  const auto record = [&](uint64_t uses) {
    for (const uint64_t end = recorded + uses; recorded < end; ++recorded)
      writer->record(BlockUseKind::kHit, recorded * recorded, recorded, false);
  };
  {
    Mutex mutex;
    const MutexLock lock(mutex);
    record(500'000);
    EXPECT_EQ(files.bytes().size(), begun);
  }
  record(1);
  EXPECT_GT(files.bytes().size(), begun + (900 << 10));
  record(1'000);
  ASSERT_TRUE(writer->finish().ok());
  const Read read = read_bytes(files.bytes());
  ASSERT_TRUE(read.status.ok()) << read.status.to_text();
  EXPECT_TRUE(read.whole);
  EXPECT_GT(read.lost, 0u);
  EXPECT_EQ(read.uses.size() + read.lost, recorded);
}

TEST_F(BlockTraceTest, ReportsTheErrorOfItsFileAtTheEnd) {
  StubbornFiles files;
  const auto writer = BlockTraceWriter::create(files, clock_, "d/t", {}).value();
  files.set(false, true);
  for (uint64_t i = 0; i < 100'000; ++i) writer->record(BlockUseKind::kHit, kFile + i, i, false);
  const Status status = writer->finish();
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_EQ(status.message(), "block trace d/t: the test's disk is full");
  EXPECT_EQ(writer->finish().code(), Code::kNoSpace);
}

// The cache records each use by its kind.
TEST_F(BlockTraceTest, RecordsTheUsesOfACache) {
  const auto cache = BlockCache::create(1000, "lru", 1, create()).value();
  const uint64_t file = cache->open_file();
  EXPECT_EQ(file, kFile);
  EXPECT_EQ(cache->open_file(), 2 * kFile);
  std::array<BlockSlot, 4> slots;
  const auto make = [&](uint64_t at, uint64_t bytes, bool in_memory) {
    auto* const block = new CachedBlock(bytes, in_memory);
    block->set_id(file + at);
    return block;
  };
  EXPECT_FALSE(cache->lookup(slots[0]));
  cache->insert(slots[0], make(0, 300, false));
  EXPECT_TRUE(cache->lookup(slots[0]));
  EXPECT_TRUE(cache->insert_if_room(slots[1], make(50, 400, true)));
  EXPECT_FALSE(cache->insert_if_room(slots[2], make(90, 400, false)));
  EXPECT_TRUE(cache->lookup(slots[1]));
  const Pin passed(make(120, 500, false));
  cache->pass_by(*static_cast<const CachedBlock*>(passed.get()));
  for (BlockSlot& slot : slots) cache->erase(slot);
  cache->close_file(file);
  ASSERT_TRUE(cache->finish_trace().ok());
  using enum BlockUseKind;
  const Uses expected = {{.kind = kMiss, .id = file, .bytes = 300},
                         {.kind = kHit, .id = file, .bytes = 300},
                         {.kind = kLoaded, .in_memory = true, .id = file + 50, .bytes = 400},
                         {.kind = kLoaded, .id = file + 90, .bytes = 400},
                         {.kind = kHit, .in_memory = true, .id = file + 50, .bytes = 400},
                         {.kind = kPassed, .id = file + 120, .bytes = 500},
                         {.kind = kClosed, .id = file, .bytes = 0}};
  EXPECT_EQ(read_bytes(bytes_of()).uses, expected);
}

}  // namespace
}  // namespace cellar::testing
