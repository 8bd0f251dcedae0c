// Goal: other processes can read a store while one writes it, without a lock and without a writing call. A
// reader shows the store as it was at one moment. Writes that were acknowledged before it opened are in it.
// Method: the writer works between any two file calls of a reader that opens. Then both run in threads.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "tests/engine/engine_fixture.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// Returns everything that the engine shows: its tables, their families and rows.
std::string content_of(Engine& engine) {
  std::string text;
  for (const std::string& name : engine.list_tables()) {
    const auto table = engine.open_table(name);
    EXPECT_OK(table.status());
    if (!table.ok()) return text;
    text += "table " + name + "\n";
    for (const FamilyInfo& family : (*table)->info().families)
      text += "  family " + family.options.name + "\n";
    const auto scanner = (*table)->scan({});
    EXPECT_OK(scanner.status());
    if (!scanner.ok()) return text;
    for (const RowView row : **scanner) text += "  " + to_text(row) + "\n";
    EXPECT_OK((*scanner)->status());
  }
  return text;
}

// A file system must not call an engine in the thread that called it.
void in_another_thread(const std::function<void()>& work) { std::thread(work).join(); }

void must(const Status& status) { ASSERT_TRUE(status.ok()) << status.to_text(); }

struct RecordingListener final : EventListener {
  void on_recovered(const RecoveryReport&) override { ++recovered; }
  void on_background_error(const Status&) override { ++errors; }
  int recovered = 0;
  int errors = 0;
};

class ReaderBesideWriterTest : public EngineFixture {
 protected:
  // The writer works on the files themselves. Readers see them through `watched_`, which can interrupt them.
  void SetUp() override {
    open_writer();
    make_table("a", {family("f", 3)});
    make_table("b", {family("f"), family("g")});
    write(3);
  }

  void open_writer() { open({.memtable_bytes = 1 << 20, .log_segment_bytes = 64 << 10}); }

  Result<std::unique_ptr<Engine>> open_reader(EngineOptions options = {}) {
    options.read_only = true;
    options.environment.files = &watched_;
    options.environment.clock = &clock_;
    return Engine::open("store", options);
  }
  std::string reader_shows() {
    const auto reader = open_reader();
    EXPECT_OK(reader.status());
    return reader.ok() ? content_of(**reader) : reader.status().to_text();
  }

  // Writes `rows` batches, each of which changes two tables.
  void write(int rows) {
    for (int i = 0; i < rows; ++i) {
      const std::string value = std::to_string(++written_);
      Batch batch;
      batch.put(*engine_->open_table("a"), Put("row" + std::to_string(written_ % 7)).add("f", "n", value));
      batch.put(*engine_->open_table("b"), Put("row" + value).add("f", "n", value).add("g", "n", value));
      must(engine_->write(batch));
      note_state();
    }
  }
  // Remembers what the store holds now. Readers may show it.
  void note_state() {
    if (noting_) states_.push_back(content_of(*engine_));
  }
  void flush() { EXPECT_OK(engine_->flush()); }
  void compact() {
    flush();
    for (const std::string& name : engine_->list_tables())
      EXPECT_OK((*engine_->open_table(name))->major_compact());
  }

  // Opens a reader for each of its file calls, with `work` of the writer before that call. The reader must
  // show one of the states that the store had since the reader began.
  void interrupt_everywhere(const std::function<void()>& work, int each = 1) {
    uint64_t interrupted = 0;
    for (uint64_t at = 1;; at += static_cast<uint64_t>(each)) {
      states_ = {content_of(*engine_)};
      uint64_t calls = 0;
      watched_.before_each([&](const FileCall&) {
        if (++calls != at) return;
        in_another_thread([&] {
          noting_ = true;
          work();
          note_state();
          noting_ = false;
        });
      });
      const std::string shown = reader_shows();
      watched_.before_each({});
      EXPECT_NE(std::ranges::find(states_, shown), states_.end())
          << "interrupted at call " << at << " of " << calls << ", the reader shows\n"
          << shown << "instead of\n"
          << states_.front() << "or\n"
          << states_.back();
      if (HasFailure() || states_.size() == 1) break;
      ++interrupted;
    }
    EXPECT_GE(interrupted, 20u / static_cast<uint64_t>(each)) << "a reader makes more calls than that";
  }

  FaultFileSystem watched_{*files_};
  int written_ = 0;
  bool noting_ = false;
  std::vector<std::string> states_;  // since the reader began
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
  interrupt_everywhere([this] {
    write(2);
    flush();
    write(1);
  });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfACompaction) {
  interrupt_everywhere([this] {
    write(1);
    compact();
  });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfSchemaChanges) {
  interrupt_everywhere([this] {
    must(engine_->truncate_table("a"));
    note_state();
    write(1);
    must(engine_->drop_table("b"));
    note_state();
    make_table("b", {family("f"), family("g"), family("h" + std::to_string(written_))});
    note_state();
    write(2);
  });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfACloseAndAnOpen) {
  interrupt_everywhere([this] {
    write(1);
    must(engine_->close());
    open_writer();
    write(1);
  });
}

TEST_F(ReaderBesideWriterTest, EveryMomentOfARolledManifestAndLog) {
  interrupt_everywhere([this] {
    // Values that fill several segments of the log.
    for (int i = 0; i < 8; ++i) {
      const std::string value(40'000, static_cast<char>('a' + written_ % 26));
      must((*engine_->open_table("a"))->put(Put("long" + std::to_string(i)).add("f", "n", value)));
      note_state();
    }
    flush();
    write(1);
  });
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
  must(engine_->close());
  engine_.reset();
  FaultFileSystem of_writer(*files_);
  EngineOptions options;
  options.environment.files = &of_writer;
  options.environment.clock = &clock_;
  engine_ = Engine::open("store", options).value();
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

// Threads, on the file system of the machine, with a log that is mapped.
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
    for (int i = 0; !over && i < rows; ++i) {
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
  for (int before = 0; before < rows && !::testing::Test::HasFailure(); ++readers) {
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
  EXPECT_GE(readers, 3);
}

TEST(ReaderBesideWriterStorm, FlushesCompactionsAndSmallSegments) { storm(64 << 10, 64 << 10); }
TEST(ReaderBesideWriterStorm, AnyNumberOfAppends) { storm(64 << 20, 16 << 20); }

}  // namespace
}  // namespace cellar::testing
