// Goal: other processes can read a store while one writes it, without a lock and without a writing call. A
// reader shows the store as it was at one moment. Writes that were acknowledged before it opened are in it.
// Method: the writer works between any two file calls of a reader that opens. Then both run in threads.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/engine/reader_fixture.h"
#include "tests/engine/wal_support.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

struct RecordingListener final : EventListener {
  void on_recovered(const RecoveryReport&) override { ++recovered; }
  void on_background_error(const Status&) override { ++errors; }
  int recovered = 0;
  int errors = 0;
};

class ReaderBesideWriterTest : public ReaderFixture {
 protected:
  void read_beside(const std::function<void()>& writes);
};

TEST_F(ReaderBesideWriterTest, ShowsWhatWasAcknowledgedBeforeItOpened) {
  const auto before = open_reader();
  ASSERT_TRUE(before.ok()) << before.status().to_text();
  const std::string shown = content_of(**before);
  EXPECT_EQ(shown, content_of(*engine_));
  write(2);
  EXPECT_EQ(content_of(**before), shown) << "a reader shows one moment";
  EXPECT_EQ(reader_shows(), content_of(*engine_));
  flush();
  write(1);
  EXPECT_EQ(reader_shows(), content_of(*engine_)) << "of files and of the log";
  EXPECT_EQ((*before)->open_table("a").value()->put(Put("r").add("f", "n", "1")).code(), Code::kReadOnly);
}

TEST_F(ReaderBesideWriterTest, LocksNobodyOutAndWritesNothing) {
  must(engine_->close());
  engine_.reset();
  watched_.clear_log();
  const auto reader = open_reader();
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  const std::string shown = content_of(**reader);
  open_writer();
  write(5);
  compact();
  EXPECT_EQ(content_of(**reader), shown);
  EXPECT_EQ(
      watched_.count({FileOperation::kCreate, FileOperation::kAppend, FileOperation::kSync,
                      FileOperation::kRename, FileOperation::kUnlink, FileOperation::kLink,
                      FileOperation::kDirectorySync, FileOperation::kRemoveDirectory, FileOperation::kLock}),
      0u)
      << watched_.log();
}

TEST_F(ReaderBesideWriterTest, FilesInUseStayReadable) {
  for (int i = 0; i < 5; ++i) {
    write(3);
    flush();
  }
  EngineOptions options;
  options.cache_bytes = 0;
  options.open_files_max = 1;
  const auto reader = open_reader(options);
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  const std::string shown = content_of(*engine_);
  compact();
  must(engine_->truncate_table("a"));
  must(engine_->drop_table("b"));
  EXPECT_EQ(content_of(**reader), shown);
}

TEST_F(ReaderBesideWriterTest, CopiesFilesWhoseNamesAreGone) {
  write(3);
  flush();
  write(1);
  const auto reader = open_reader();
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  const std::string shown = content_of(**reader);
  compact();
  write(1);
  const auto made = (*reader)->checkpoint("copy");
  ASSERT_TRUE(made.ok()) << made.status().to_text();
  const auto copy = Engine::open("copy", {.environment = {.files = files_.get(), .clock = &clock_}});
  ASSERT_TRUE(copy.ok()) << copy.status().to_text();
  EXPECT_EQ(content_of(**copy), shown);
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfAWrite) {
  flush();
  interrupt_everywhere([this] { write(1); });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfAFlush) {
  interrupt_everywhere([this] { write_and_flush(); });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfACompaction) {
  interrupt_everywhere([this] { write_and_compact(); });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfSchemaChanges) {
  interrupt_everywhere([this] { change_schema(); });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfACloseAndAnOpen) {
  interrupt_everywhere([this] { close_and_open(); });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfARolledManifestAndLog) {
  interrupt_everywhere([this] { write_long(); });
}

// A writer that publishes an edit before each call of the reader is faster than the reader can be.
TEST_F(ReaderBesideWriterTest, AWriterThatIsFasterForAWhile) {
  int left = 100;
  watched_.before_each([&](const FileCall&) {
    if (left-- > 0)
      in_another_thread([this] {
        write(1);
        flush();
      });
  });
  const std::string shown = reader_shows();
  watched_.before_each({});
  EXPECT_EQ(shown, content_of(*engine_));
}

// Opens and refreshes a reader whose writer goes on without a pause: it calls `writes` before each read from
// the log or a table. The reader needs few attempts.
void ReaderBesideWriterTest::read_beside(const std::function<void()>& writes) {
  const auto read_once = [&](const std::function<Status()>& reads) {
    int looks_at_manifest = 0;
    watched_.before_each([&](const FileCall& call) {
      if (call.operation == FileOperation::kOpen && call.name.starts_with("MANIFEST-")) ++looks_at_manifest;
      const bool of_content = call.name.starts_with("wal/") || call.name.starts_with("tables/");
      if (call.operation == FileOperation::kRead && of_content) in_another_thread(writes);
    });
    EXPECT_OK(reads());
    watched_.before_each({});
    EXPECT_LE(looks_at_manifest, 3);
  };
  write_and_flush();
  std::unique_ptr<Engine> reader;
  read_once([&]() -> Status {
    CELLAR_TRY_ASSIGN(reader, open_reader());
    return {};
  });
  ASSERT_NE(reader, nullptr);
  write_and_flush();
  read_once([&] { return reader->refresh(); });
  EXPECT_OK(reader->refresh());
  EXPECT_EQ(content_of(*reader), content_of(*engine_));
}

TEST_F(ReaderBesideWriterTest, AWriterThatRemovesWhatTheReaderReads) {
  read_beside([this] {
    write_long();
    compact();
  });
}

// The newest segment of the log always has a record that saw an edit which the reader does not know.
TEST_F(ReaderBesideWriterTest, AWriterThatEditsTheManifestWhileTheReaderReads) {
  int made = 0;
  read_beside([&] {
    make_table("of" + std::to_string(++made), {family("f")});
    write(1);
  });
  EXPECT_GT(made, 2);
}

// The writer only appends: neither the manifest nor the list of segments changes. The log is longer than what
// the reader reads at a time, so that it sees old bytes next to new ones.
TEST_F(ReaderBesideWriterTest, AWriterThatOnlyAppends) {
  must(engine_->close());
  open({.memtable_bytes = 64 << 20, .log_segment_bytes = 16 << 20});
  for (int i = 0; i < 1000; ++i) {
    const std::string row = "row" + std::to_string(i);
    must((*engine_->open_table("a"))->put(Put(row).add("f", "n", std::string(1000, 'x'))));
  }
  watched_.before_each([&](const FileCall& call) {
    if (call.operation == FileOperation::kRead) in_another_thread([this] { write(1); });
  });
  RecordingListener listener;
  EngineOptions options;
  options.environment.events = &listener;
  const auto reader = open_reader(options);
  watched_.before_each({});
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  EXPECT_EQ(listener.recovered, 1);
  EXPECT_EQ(listener.errors, 0);
}

// The sync of an edit fails, and resume() gives the edit up. A reader that has met it begins again.
TEST_F(ReaderBesideWriterTest, AnEditThatIsGivenUp) {
  FaultFileSystem of_writer(*files_);
  open_writer_anew(of_writer);
  write(2);
  flush();
  of_writer.fail(FileOperation::kSync, "MANIFEST-*", 1);
  EXPECT_FALSE(engine_->truncate_table("a").ok());
  of_writer.clear();
  bool resumed = false;
  watched_.before_each([&](const FileCall& call) {
    if (resumed || !call.name.starts_with("wal")) return;
    resumed = true;
    in_another_thread([this] {
      must(engine_->resume());
      write(1);
    });
  });
  const std::string shown = reader_shows();
  watched_.before_each({});
  EXPECT_TRUE(resumed);
  EXPECT_EQ(shown, content_of(*engine_));
  engine_.reset();  // before its files
}

TEST_F(ReaderBesideWriterTest, DamageIsStillDamage) {
  flush();
  must(engine_->close());
  engine_.reset();
  watched_.inject(
      {.on = FileOperation::kRead, .name = "MANIFEST-*", .nth = 0, .kind = Fault::Kind::kFlipBit});
  EXPECT_EQ(open_reader().status().code(), Code::kCorruption);
  watched_.clear();
  watched_.inject({.on = FileOperation::kOpen, .name = "wal/*", .nth = 0, .code = Code::kNotFound});
  EXPECT_EQ(open_reader().status().code(), Code::kNotFound);
  watched_.clear();
  EXPECT_OK(open_reader().status());
  EXPECT_EQ(
      Engine::open("elsewhere", {.read_only = true, .environment = {.files = &watched_}}).status().code(),
      Code::kNotFound);
}

// A reader ends the log where it saw an edit that the reader's manifest does not have. It must not take a
// manifest that has lost this edit for an older one.
TEST_F(ReaderBesideWriterTest, AManifestWithoutItsLastEditIsDamage) {
  const std::unique_ptr<Engine> reader = open_reader().value();
  const std::unique_ptr<Directory> root = files_->open_directory("store", false).value();
  std::string manifest;
  for (const DirectoryEntry& entry : root->list().value())
    if (entry.name.starts_with("MANIFEST-")) manifest = entry.name;
  const std::string before = read_file(*root, manifest);
  make_table("c", {family("f")});
  write(1);
  write_file(*root, manifest, before);
  for (const Status& status : {open_reader().status(), reader->refresh()}) {
    EXPECT_EQ(status.code(), Code::kCorruption);
    EXPECT_THAT(status.to_text(), ::testing::HasSubstr("the manifest has lost its end"));
  }
}

// Threads, on the file system of the machine, with a log that is mapped. The writer goes on until three
// readers have opened the store during its writes, however fast either of them is.
void storm(uint64_t memtable_bytes, uint64_t log_segment_bytes) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/store";
  auto opened = Engine::open(
      path,
      {.create_if_missing = true, .memtable_bytes = memtable_bytes, .log_segment_bytes = log_segment_bytes});
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  Engine& writer = **opened;
  const auto first = writer.create_table("a", {.families = {{.name = "f"}}}).value();
  const auto second = writer.create_table("b", {.families = {{.name = "f"}}}).value();
  const int rows = static_cast<int>(std::max<uint64_t>(2000, scaled(40'000)));
  std::atomic<int> acknowledged = 0;
  std::atomic<bool> over = false;
  std::thread writing([&] {
    for (int i = 0; !over; ++i) {
      char row[16];
      std::snprintf(row, sizeof row, "%09d", i);
      Batch batch;
      batch.put(first, Put(row).add("f", "n", std::string(50, 'a')));
      batch.put(second, Put(row).add("f", "n", row));
      const Status status = writer.write(batch);
      ASSERT_TRUE(status.ok()) << status.to_text();
      acknowledged = i + 1;
    }
  });
  int readers = 0;
  for (int before = 0; (before < rows || readers < 3) && !::testing::Test::HasFailure(); ++readers) {
    before = acknowledged;
    const auto reader = Engine::open(path, {.read_only = true});
    ASSERT_TRUE(reader.ok()) << reader.status().to_text();
    int seen[2] = {0, 0};
    for (int table = 0; table < 2; ++table) {
      const auto scanned = (*reader)->open_table(table == 0 ? "a" : "b").value()->scan({});
      ASSERT_TRUE(scanned.ok());
      for (const RowView row : **scanned) {
        ASSERT_EQ(std::atoi(std::string(row.row()).c_str()), seen[table]) << "a gap";
        ++seen[table];
      }
      ASSERT_TRUE((*scanned)->status().ok()) << (*scanned)->status().to_text();
    }
    EXPECT_EQ(seen[0], seen[1]) << "half of a batch";
    EXPECT_GE(seen[0], before);
  }
  over = true;
  writing.join();
}

TEST(ReaderBesideWriterStorm, FlushesCompactionsAndSmallSegments) { storm(64 << 10, 64 << 10); }
TEST(ReaderBesideWriterStorm, AnyNumberOfAppends) { storm(64 << 20, 16 << 20); }

}  // namespace
}  // namespace cellar::testing
