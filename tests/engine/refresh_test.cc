// Goal: a reader that refreshes shows what a new reader of the store would show, at the cost of what is new.
// Open scanners and snapshots keep their state. A refresh that fails changes nothing.
// Method: a reader follows a writer through each kind of change, and is compared with a new reader. The
// writer works between any two file calls of a refresh, and each of these calls fails once. Calls and bytes
// are counted.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/engine/feed_support.h"
#include "tests/engine/reader_fixture.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class Refresh : public ReaderFixture {
 protected:
  void SetUp() override {
    ReaderFixture::SetUp();
    start_reader();
  }
  void TearDown() override {
    reader_.reset();
    engine_.reset();
  }
  void start_reader() {
    auto opened = open_reader();
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    reader_ = std::move(opened).value();
  }

  std::string new_reader_shows() {
    const auto fresh = open_reader();
    EXPECT_OK(fresh.status());
    return fresh.ok() ? detail_of(**fresh) : fresh.status().to_text();
  }
  // Refreshes. `whole` tells if the log must have been read whole.
  void follow(bool whole = false) {
    EXPECT_OK(engine_->wait_for_background());  // a compaction in between would be a difference
    const EngineStatus before = reader_->status();
    EXPECT_OK(reader_->refresh());
    const EngineStatus after = reader_->status();
    EXPECT_EQ(after.refreshes - before.refreshes, whole ? 0u : 1u);
    EXPECT_EQ(after.refreshes_whole - before.refreshes_whole, whole ? 1u : 0u);
    EXPECT_EQ(detail_of(*reader_), new_reader_shows());
    EXPECT_EQ(content_of(*reader_), content_of(*engine_));
  }
  // Returns what the reader shows after a refresh.
  std::string refreshed() {
    EXPECT_OK(reader_->refresh());
    return content_of(*reader_);
  }

  std::unique_ptr<Engine> reader_;
};

TEST_F(Refresh, ShowsLaterWrites) {
  const auto table = reader_->open_table("a").value();
  const std::string before = content_of(*reader_);
  write(2);
  EXPECT_EQ(content_of(*reader_), before);
  follow();
  EXPECT_EQ(value_of(*table, Get("row" + std::to_string(written_ % 7)), "f", "n"), std::to_string(written_));
  follow();
  for (int i = 0; i < 10; ++i) {
    write(1);
    follow();
  }
  EXPECT_EQ(reader_->status().refreshes, 12u);
}

TEST_F(Refresh, EachKindOfChangeCostsWhatIsNew) {
  const std::vector<std::function<void()>> changes = {
      [&] { flush(); },
      [&] { EXPECT_OK((*engine_->open_table("b"))->flush("g")); },
      [&] { compact(); },
      [&] {
        must(engine_->alter_table("a", {.set_families = {family("f", 5), family("new")}}));
      },
      [&] { must((*engine_->open_table("a"))->put(Put("row1").add("new", "n", "1"))); },
      [&] { must(engine_->alter_table("a", {.remove_families = {"new"}})); },
      [&] {
        must(engine_->alter_table("a", {.read_only = true}));
        follow();
        must(engine_->alter_table("a", {.read_only = false}));
      },
      [&] { make_table("c", {family("f")}); },
      [&] { must((*engine_->open_table("c"))->put(Put("r").add("f", "n", "1"))); },
      [&] { must(engine_->drop_table("c")); },
      [&] { make_table("c", {family("g")}); },
      [&] { must(engine_->truncate_table("a")); },
      [&] { EXPECT_OK(engine_->named_snapshots().create("s").status()); },
      [&] { must(engine_->truncate_table("b")); },
      [&] { must(engine_->named_snapshots().restore("s")); },
      [&] { EXPECT_OK(engine_->named_snapshots().clone("s", "b", "d").status()); },
      [&] { must((*engine_->open_table("a"))->erase(Delete("row1"))); },
      [&] { EXPECT_OK((*engine_->open_table("b"))->increment_one("counter", "f", "n", 5).status()); },
      [&] { EXPECT_OK(engine_->unique_time_us().status()); },
      [&] { EXPECT_OK(engine_->feeds().create("feed")); },
  };
  for (size_t i = 0; i < changes.size() && !HasFailure(); ++i) {
    SCOPED_TRACE("change " + std::to_string(i));
    changes[i]();
    follow();
    write(1);
    changes[i == 0 ? 0 : 1]();  // a flush
    write(1);
    follow();
  }
}

TEST_F(Refresh, CellsLeaveMemoryWithTheirFlush) {
  const auto table = engine_->open_table("a").value();
  // The last of equal cells of one write counts.
  Batch batch;
  for (const char* value : {"first", "second", "last"})
    batch.put(table, Put("equal").add_at("f", "n", 5, value));
  flush();
  must(engine_->write(batch));
  must(engine_->alter_table("b", {.read_only = true}));
  follow();
  // The flush takes what was written before it, and leaves the rest.
  uint64_t most = 0;
  for (int i = 0; i < 30; ++i) {
    must(table->put(Put("row" + std::to_string(i)).add("f", "n", std::string(1000, 'x'))));
    if (i % 3 == 0) flush();
    must(engine_->write(batch));
    follow();
    most = std::max(most, reader_->status().memtable_bytes);
  }
  EXPECT_EQ(value_of(*reader_->open_table("a").value(), Get("equal"), "f", "n"), "last");
  EXPECT_LT(most, 64u << 10) << "what is in files takes no memory";
  EXPECT_EQ(reader_->status().memtable_held_bytes, 0u);
  EXPECT_EQ(reader_->status().memtable_bytes, (*open_reader())->status().memtable_bytes);
}

// A flush and a later write happen while the reader reads the log.
TEST_F(Refresh, AFlushBetweenTheManifestAndTheLog) {
  const auto table = engine_->open_table("a").value();
  flush();
  follow();
  // The edit of the flush is the last file call that the reader does not see yet: it reads the log after it.
  must(table->put(Put("in the file").add("f", "n", "1")));
  bool flushed = false;
  watched_.before_each([&](const FileCall& call) {
    if (flushed || !call.name.starts_with("wal")) return;
    flushed = true;
    in_another_thread([&] {
      flush();
      EXPECT_OK(table->put(Put("later").add("f", "n", "2")));
    });
  });
  EXPECT_OK(reader_->refresh());
  watched_.before_each({});
  EXPECT_TRUE(flushed);
  follow();
  EXPECT_EQ(value_of(*reader_->open_table("a").value(), Get("later"), "f", "n"), "2");
}

// The reader sees later cells of the family before the flush has ended. They stay in memory.
TEST_F(Refresh, AFlushThatEndsAfterLaterWrites) {
  FaultFileSystem files(*files_);
  open_writer_anew(files);
  follow(true);
  const auto table = engine_->open_table("a").value();
  must(table->put(Put("row").add_at("f", "n", 5, "in the file")));
  must((*engine_->open_table("b"))->put(Put("keeps the log").add("f", "n", "1")));
  follow();
  bool written = false;
  files.before_each([&](const FileCall& call) {
    if (written || call.operation != FileOperation::kCreate || !call.name.starts_with("tables")) return;
    written = true;
    in_another_thread([&] {
      EXPECT_OK(table->put(Put("row").add_at("f", "n", 5, "later")));
      EXPECT_OK(reader_->refresh());
    });
  });
  EXPECT_OK(table->flush());
  files.before_each({});
  ASSERT_TRUE(written);
  const auto read = reader_->open_table("a").value();
  const uint64_t before = read->info().families[0].memtable_cells;
  EXPECT_GE(before, 2u);
  follow();
  EXPECT_EQ(read->info().families[0].memtable_cells, 1u);
  EXPECT_EQ(value_of(*read, Get("row"), "f", "n"), "later");
}

TEST_F(Refresh, AWholeReadingWhereTheRestIsNotEnough) {
  must(engine_->close());
  open_writer();
  follow(true);
  follow();
  write(1);
  follow();
  // Segments that were read are released.
  const auto table = engine_->open_table("a").value();
  for (int i = 0; i < 8; ++i) must(table->put(Put("long").add("f", "n", std::string(40'000, 'x'))));
  flush();
  write(1);
  follow(true);
  write(1);
  follow();
}

// On the file system of the machine, where the unused part of a segment is a hole.
TEST(RefreshCost, ReadsLittleAfterOneWrite) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/store";
  const auto writer = Engine::open(path, {.create_if_missing = true, .log_segment_bytes = 64 << 20}).value();
  const auto table = writer->create_table("t", {.families = {{.name = "f"}}}).value();
  const auto put = [&](int row) {
    must(table->put(Put("row" + std::to_string(row)).add("f", "n", std::string(1000, 'x'))));
  };
  for (int i = 0; i < 4000; ++i) put(i);
  FaultFileSystem files(posix_file_system());
  const auto bytes_read = [&](const std::function<void()>& work) {
    uint64_t bytes = 0;
    files.before_each([&](const FileCall& call) {
      if (call.operation == FileOperation::kRead) bytes += std::strtoull(call.detail.c_str(), nullptr, 10);
    });
    work();
    files.before_each({});
    return bytes;
  };
  std::unique_ptr<Engine> reader;
  const uint64_t opening = bytes_read(
      [&] { reader = Engine::open(path, {.read_only = true, .environment = {.files = &files}}).value(); });
  EXPECT_GT(opening, 4'000'000u);
  put(4000);
  const uint64_t one = bytes_read([&] { EXPECT_OK(reader->refresh()); });
  const uint64_t nothing = bytes_read([&] { EXPECT_OK(reader->refresh()); });
  std::printf("an opening reads %llu bytes, a refresh after one write %llu, another one %llu\n",
              static_cast<unsigned long long>(opening), static_cast<unsigned long long>(one),
              static_cast<unsigned long long>(nothing));
  EXPECT_LT(one, 250'000u);
  EXPECT_LT(nothing, 250'000u);
  EXPECT_EQ(reader->status().refreshes_whole, 0u);
  EXPECT_EQ(content_of(*reader), content_of(*writer));
}

TEST_F(Refresh, ScannersAndSnapshotsKeepTheirState) {
  flush();
  write(2);
  follow();
  const std::string all = content_of(*reader_);
  const auto table = reader_->open_table("a").value();
  const Texts rows = scan(*table, {});
  auto scanner = table->scan(Scan()).value();
  ASSERT_TRUE(scanner->next());
  Texts scanned = cell_texts(scanner->row());
  auto snapshot = reader_->snapshot().value();
  const std::vector<std::function<void()>> changes = {
      [&] { write(3); },
      [&] { flush(); },
      [&] { compact(); },
      [&] { must(engine_->truncate_table("a")); },
      [&] {
        write(20);
        compact();
      },
      [&] {
        must(engine_->alter_table("a", {.set_families = {family("f", 1), family("g")}}));
      },
      [&] {
        must(engine_->close());
        open_writer();
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE("change " + std::to_string(i));
    changes[i]();
    EXPECT_OK(engine_->wait_for_background());
    EXPECT_OK(reader_->refresh());
    EXPECT_EQ(detail_of(*reader_), new_reader_shows());
    EXPECT_EQ(scan(*table, Scan().family("f").snapshot(snapshot)), rows);
  }
  while (scanner->next())
    for (const std::string& text : cell_texts(scanner->row())) scanned.push_back(text);
  EXPECT_OK(scanner->status());
  EXPECT_EQ(scanned, rows);
  const size_t held = watched_.open_readers();
  scanner.reset();
  snapshot.reset();
  EXPECT_LT(watched_.open_readers(), held) << "their files are let go";
  EXPECT_EQ(reader_->status().memtable_held_bytes, 0u);
}

TEST_F(Refresh, HandlesOfTables) {
  const auto a = reader_->open_table("a").value();
  must(engine_->drop_table("a"));
  EXPECT_OK(a->get(Get("row1")).status());  // not yet refreshed
  follow();
  EXPECT_EQ(a->get(Get("row1")).status().code(), Code::kNotFound);
  EXPECT_EQ(reader_->open_table("a").status().code(), Code::kNotFound);
  make_table("a", {family("other")});
  must((*engine_->open_table("a"))->put(Put("r").add("other", "n", "1")));
  write(0);
  follow();
  EXPECT_EQ(a->get(Get("r")).status().code(), Code::kNotFound) << "a table of the same name is another one";
  EXPECT_EQ(value_of(*reader_->open_table("a").value(), Get("r"), "other", "n"), "1");
}

TEST_F(Refresh, IsForReaders) {
  const Status refused = engine_->refresh();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.to_text().find("leave out the call"), std::string::npos) << refused.to_text();
  must(reader_->close());
  EXPECT_EQ(reader_->refresh().code(), Code::kAborted);
}

TEST_F(Refresh, OfANamedSnapshotDoesNothing) {
  EXPECT_OK(engine_->named_snapshots().create("s").status());
  const auto snapshot = engine_->named_snapshots().open("s");
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().to_text();
  const std::string before = content_of(**snapshot);
  write(1);
  EXPECT_OK((*snapshot)->refresh());
  EXPECT_EQ(content_of(**snapshot), before);
}

TEST_F(Refresh, FeedsGoOn) {
  EXPECT_OK(engine_->feeds().create("feed"));
  follow();
  const auto feed = reader_->feeds().read("feed", std::nullopt);
  ASSERT_TRUE(feed.ok()) << feed.status().to_text();
  EXPECT_TRUE(read_all(**feed).empty());
  write(2);
  flush();
  write(1);
  EXPECT_TRUE(read_all(**feed).empty());
  follow();
  EXPECT_EQ(read_all(**feed).size(), 3u);
}

// The sequence of a write that was given up may come again, with another write.
TEST_F(Refresh, AFeedEndsWhereTheLogIsReadAnew) {
  EXPECT_OK(engine_->feeds().create("feed"));
  follow();
  write(2);
  EXPECT_OK(reader_->refresh());
  const auto feed = reader_->feeds().read("feed", std::nullopt).value();
  EXPECT_EQ(read_all(*feed).size(), 2u);
  must(engine_->close());
  engine_.reset();
  open_writer();
  write(1);
  EXPECT_OK(reader_->refresh());
  ASSERT_EQ(reader_->status().refreshes_whole, 1u);
  const auto next = feed->next(0);
  EXPECT_EQ(next.status().code(), Code::kConflict) << next.status().to_text();
  const auto again = reader_->feeds().read("feed", std::nullopt).value();
  EXPECT_EQ(read_all(*again).size(), 3u);
}

TEST_F(Refresh, SnapshotsSeeOptionsAsTheyAreNow) {
  write(1);
  const auto put = [&](int64_t ms) {
    EXPECT_OK(engine_->open_table("a").value()->put(Put("r").add_at("f", "n", ms, std::to_string(ms))));
  };
  for (const int64_t ms : {1, 2, 3}) put(ms);
  EXPECT_OK(reader_->refresh());
  const auto before = reader_->snapshot().value();
  FamilyOptions one = family("f", 1);
  EXPECT_OK(engine_->alter_table("a", {.set_families = {one}}));
  EXPECT_OK(reader_->refresh());
  const auto table = reader_->open_table("a").value();
  const auto versions = [&](Get get) {
    const auto found = table->get(get.all_versions());
    EXPECT_OK(found.status());
    return found.ok() ? found->row().cells().size() : 0;
  };
  const auto after = reader_->snapshot().value();
  EXPECT_EQ(versions(Get("r")), 1u);
  EXPECT_EQ(versions(Get("r").snapshot(after)), 1u);
  EXPECT_EQ(versions(Get("r").snapshot(before)), 1u);
}

// The id of a family whose edit was given up goes to the next one.
TEST_F(Refresh, AFamilyThatIsGivenUpLeavesItsIdToAnother) {
  FaultFileSystem of_writer(*files_);
  open_writer_anew(of_writer);
  EXPECT_OK(reader_->refresh());
  of_writer.fail(FileOperation::kSync, "MANIFEST-*", 1);
  EXPECT_FALSE(engine_->alter_table("a", {.set_families = {family("x")}}).ok());
  of_writer.clear();
  EXPECT_OK(reader_->refresh());
  const bool shown = content_of(*reader_).find("family x") != std::string::npos;
  EXPECT_TRUE(shown) << "without it this test tests nothing";
  must(engine_->resume());
  EXPECT_OK(engine_->alter_table("a", {.set_families = {family("y", 7)}}));
  const auto table = engine_->open_table("a").value();
  EXPECT_OK(table->put(Put("r").add("y", "q", "v")));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(refreshed(), content_of(*engine_));
    EXPECT_OK(engine_->flush());
  }
  EXPECT_EQ(value_of(*reader_->open_table("a").value(), Get("r"), "y", "q"), "v");
  engine_.reset();  // before its files
}

TEST_F(Refresh, WithoutAFileThatIsGoneByNow) {
  write(2);
  flush();
  const std::string name = engine_->open_table("a").value()->info().families[0].files.at(0).name;
  auto reader = open_reader({.without_files = {name}});
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  write(2);
  flush();
  EXPECT_OK(engine_->open_table("a").value()->major_compact());
  EXPECT_OK((*reader)->refresh());
  EXPECT_EQ(content_of(**reader), content_of(*engine_));
}

TEST_F(Refresh, CopiesShowTheNewState) {
  write(2);
  flush();
  write(1);
  follow();
  compact();
  EXPECT_OK(reader_->checkpoint("copy").status());
  const auto copy = Engine::open("copy", {.environment = {.files = files_.get(), .clock = &clock_}});
  ASSERT_TRUE(copy.ok()) << copy.status().to_text();
  EXPECT_EQ(content_of(**copy), content_of(*reader_));
}

// The writer works between any two file calls of a refresh.
TEST_F(Refresh, EveryMomentOfAWrite) {
  interrupt_everywhere([this] { write(1); }, [this] { return refreshed(); }, 1, 5);
  follow();
  EXPECT_EQ(reader_->status().refreshes_whole, 0u);
}

TEST_F(Refresh, EveryMomentOfOtherChanges) {
  const std::vector<std::function<void()>> changes = {
      [this] { write_and_flush(); }, [this] { write_and_compact(); }, [this] { change_schema(); },
      [this] { close_and_open(); },  [this] { write_long(); },
  };
  for (size_t i = 0; i < changes.size() && !HasFailure(); ++i) {
    SCOPED_TRACE("change " + std::to_string(i));
    const auto shows = [&] {
      changes[i]();  // there is something to read, whatever the interruption before has left
      states_ = {content_of(*engine_)};
      return refreshed();
    };
    const int each = test_scale() < kDailyScale ? 3 : 1;
    interrupt_everywhere(changes[i], shows, each, 5 / each);
    EXPECT_OK(engine_->wait_for_background());
    EXPECT_OK(reader_->refresh());
    EXPECT_EQ(detail_of(*reader_), new_reader_shows());
  }
}

// Each file call of a refresh fails once, or from then on.
TEST_F(Refresh, AFailureChangesNothing) {
  const std::vector<std::function<void()>> changes = {
      [this] { write(1); },
      [this] {
        write(1);
        flush();
        write(1);
      },
      [this] { compact(); },
      [this] {
        must(engine_->truncate_table("a"));
        write(1);
      },
      [this] {
        write(1);
        must(engine_->close());
        open_writer();
      },
  };
  uint64_t failed = 0;
  for (size_t i = 0; i < changes.size() && !HasFailure(); ++i)
    for (const bool sticky : {false, true}) {
      SCOPED_TRACE("change " + std::to_string(i) + (sticky ? ", all calls fail from then on" : ""));
      for (uint64_t at = 1;; ++at) {
        changes[i]();
        const std::string before = content_of(*reader_);
        watched_.inject({.on = kAllReads, .nth = at, .sticky = sticky});
        const uint64_t struck = watched_.struck();
        const Status status = reader_->refresh();
        const bool was_struck = watched_.struck() != struck;
        watched_.clear();
        if (!status.ok()) {
          ++failed;
          EXPECT_EQ(content_of(*reader_), before) << "call " << at;
          EXPECT_EQ(status.code(), Code::kIoError) << status.to_text();
        } else {
          EXPECT_EQ(content_of(*reader_), content_of(*engine_)) << "call " << at;
        }
        EXPECT_OK(engine_->wait_for_background());
        EXPECT_OK(reader_->refresh());
        EXPECT_EQ(detail_of(*reader_), new_reader_shows()) << "call " << at;
        if (HasFailure() || !was_struck) break;
      }
    }
  EXPECT_GT(failed, 20u);
}

// The sync of a write fails. The reader has shown the write, which then is given up, and its number may be
// used again.
TEST_F(Refresh, WritesThatAreGivenUp) {
  for (const bool reopens : {false, true}) {
    for (const int later : {0, 1, 2, 5}) {
      SCOPED_TRACE((reopens ? "reopened, " : "resumed, ") + std::to_string(later) + " later writes");
      FaultFileSystem of_writer(*files_);
      open_writer_anew(of_writer);
      write(1);
      EXPECT_OK(reader_->refresh());
      const auto snapshot = reader_->snapshot().value();
      const auto a = reader_->open_table("a").value();
      const Texts rows = scan(*a, Scan().snapshot(snapshot));
      of_writer.fail(FileOperation::kSync, "*.log", 1);
      const auto table = engine_->open_table("a").value();
      EXPECT_FALSE(table->put(Put("lost").add("f", "n", "1"), {.durability = Durability::kFsyncWal}).ok());
      EXPECT_OK(reader_->refresh());
      EXPECT_EQ(value_of(*a, Get("lost"), "f", "n"), "1") << "it may be shown";
      const auto of_lost = reader_->snapshot().value();
      of_writer.clear();
      must(engine_->resume());
      if (reopens) open_writer_anew(of_writer);
      for (int i = 0; i < later; ++i) write(1);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(refreshed(), content_of(*engine_));
        const auto now = reader_->snapshot().value();
        EXPECT_EQ(scan(*a, Scan().snapshot(now)), scan(*engine_->open_table("a").value(), {}));
        EXPECT_EQ(scan(*a, Scan().snapshot(snapshot)), rows);
        EXPECT_EQ(value_of(*a, Get("lost").snapshot(of_lost), "f", "n"), "1");
        write(1);
      }
      EXPECT_OK(reader_->refresh());
      must(engine_->close());
      engine_.reset();
      open_writer();
    }
  }
}

TEST_F(Refresh, AnEditThatIsGivenUp) {
  FaultFileSystem of_writer(*files_);
  open_writer_anew(of_writer);
  write(2);
  flush();
  EXPECT_EQ(refreshed(), content_of(*engine_));
  of_writer.fail(FileOperation::kSync, "MANIFEST-*", 1);
  EXPECT_FALSE(engine_->truncate_table("a").ok());
  of_writer.clear();
  EXPECT_OK(reader_->refresh());  // it may show the edit
  must(engine_->resume());
  EXPECT_EQ(refreshed(), content_of(*engine_));
  write(1);
  EXPECT_EQ(refreshed(), content_of(*engine_));
  engine_.reset();  // before its files
}

TEST_F(Refresh, AStoreThatIsGone) {
  must(engine_->close());
  engine_.reset();
  const std::string before = content_of(*reader_);
  must(files_->open_directory("store", false).value()->unlink("CURRENT"));
  EXPECT_EQ(reader_->refresh().code(), Code::kNotFound);
  EXPECT_EQ(content_of(*reader_), before);
}

TEST(RefreshPlace, AnotherStoreInItsPlace) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/store", away = scratch.path() + "/away";
  const auto make = [&] {
    const auto made = Engine::open(path, {.create_if_missing = true}).value();
    must(made->create_table("t", {.families = {{.name = "f"}}}).status());
    must(made->close());
  };
  make();
  const auto reader = Engine::open(path, {.read_only = true}).value();
  EXPECT_OK(reader->refresh());
  std::filesystem::rename(path, away);
  EXPECT_EQ(reader->refresh().code(), Code::kNotFound);
  make();
  EXPECT_EQ(reader->refresh().code(), Code::kConflict);
  EXPECT_EQ(reader->list_tables().size(), 1u);
  std::filesystem::remove_all(path);
  std::filesystem::rename(away, path);
  EXPECT_OK(reader->refresh());
}

// A thread that has failed ends the others, which would wait for it.
struct EndsWithAFailure {
  std::atomic<bool>& over;
  ~EndsWithAFailure() {
    if (::testing::Test::HasFatalFailure()) over = true;
  }
};

// Threads, on the file system of the machine, with a log that is mapped: one writes, two read through one
// reader, and two refresh it.
void refresh_storm(uint64_t memtable_bytes, uint64_t log_segment_bytes) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/store";
  auto opened = Engine::open(
      path,
      {.create_if_missing = true, .memtable_bytes = memtable_bytes, .log_segment_bytes = log_segment_bytes});
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  Engine& writer = **opened;
  const auto table = writer.create_table("t", {.families = {{.name = "f"}, {.name = "g"}}}).value();
  const int rows = static_cast<int>(std::max<uint64_t>(2000, scaled(40'000)));
  std::atomic<int> acknowledged = 0;
  std::atomic<bool> over = false;
  std::atomic<int> shown = 0;  // the refresh that began last saw at least so many
  std::thread writing([&] {
    const EndsWithAFailure guard{over};
    for (int i = 0; !over && i < rows; ++i) {
      char row[16];
      std::snprintf(row, sizeof row, "%09d", i);
      const Status status = table->put(Put(row).add("f", "n", std::string(50, 'a')).add("g", "n", row));
      ASSERT_TRUE(status.ok()) << status.to_text();
      acknowledged = i + 1;
    }
  });
  auto reader = Engine::open(path, {.read_only = true}).value();
  const auto shows = reader->open_table("t").value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      const EndsWithAFailure guard{over};
      while (!over) {
        const int before = acknowledged;
        const Status status = reader->refresh();
        ASSERT_TRUE(status.ok()) << status.to_text();
        int seen = shown;
        while (seen < before && !shown.compare_exchange_weak(seen, before)) {
        }
        if (before == rows) over = true;
      }
    });
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      while (!over) {
        const int least = shown;
        int seen = 0;
        const auto snapshot = i == 0 ? reader->snapshot().value() : nullptr;
        const auto scanned = shows->scan(Scan().snapshot(snapshot));
        ASSERT_TRUE(scanned.ok());
        for (const RowView row : **scanned) {
          ASSERT_EQ(std::atoi(std::string(row.row()).c_str()), seen) << "a gap";
          ASSERT_EQ(row.cells().size(), 2u) << "half of a row";
          ++seen;
        }
        ASSERT_TRUE((*scanned)->status().ok()) << (*scanned)->status().to_text();
        ASSERT_GE(seen, least);
      }
    });
  writing.join();
  for (std::thread& each : threads) each.join();
  const EngineStatus status = reader->status();
  EXPECT_GE(status.refreshes, 1u);
  std::printf("%llu refreshes read what was new, %llu the whole log\n",
              static_cast<unsigned long long>(status.refreshes),
              static_cast<unsigned long long>(status.refreshes_whole));
}

TEST(RefreshStorm, FlushesCompactionsAndSmallSegments) { refresh_storm(64 << 10, 64 << 10); }
TEST(RefreshStorm, AnyNumberOfAppends) { refresh_storm(64 << 20, 16 << 20); }

}  // namespace
}  // namespace cellar::testing
