// Goal: the manifest names no file and no directory whose name may be lost. A failed sync of a directory
// counts for every job that has made names before it. Such a job may sync the same directory afterwards.
// Method: NameSyncs with syncs that fail on request. An engine has files whose directory sync fails while
// another job is under way in the same directory.
#include "engine/store/name_syncs.h"

#include <atomic>
#include <thread>

#include "engine/store/activity.h"
#include "engine/store/world.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {
namespace {

class NameSyncsTest : public ::testing::Test {
 protected:
  World world_{EngineOptions(), "store"};
  Activity activity_{world_.executor};
  Health health_{world_, activity_.changed};
  NameSyncs names_{world_.executor, health_};
  const Status broken_ = Status::io_error("the medium is broken");
};

TEST_F(NameSyncsTest, AFailureCountsForNamesThatWereMadeBeforeIt) {
  const auto works = [] { return Status(); };
  const uint64_t early = names_.failures();
  EXPECT_OK(names_.sync(early, works));
  EXPECT_OK(health_.check());
  EXPECT_TRUE(names_.sync(early, [this] { return broken_; }).is(Code::kIoError));
  EXPECT_TRUE(health_.failed());
  bool called = false;
  const Status refused = names_.sync(early, [&] {
    called = true;
    return Status();
  });
  EXPECT_TRUE(refused.is(Code::kIoError)) << refused.to_text();
  EXPECT_FALSE(called) << "a second sync proves nothing";
  EXPECT_OK(names_.sync(names_.failures(), works));  // names that were made later
  EXPECT_TRUE(health_.clear(health_.failures()));
  EXPECT_FALSE(names_.sync(early, works).ok()) << "not even after resume()";
}

// The sync that fails has begun, and has not told anybody yet.
TEST_F(NameSyncsTest, ASyncWaitsForOneThatMayFail) {
  const uint64_t early = names_.failures();
  std::atomic<bool> second_syncs = false;
  std::thread second;
  const Status first = names_.sync(early, [&] {
    second = std::thread([&] {
      EXPECT_FALSE(names_
                       .sync(early,
                             [&] {
                               second_syncs = true;
                               return Status();
                             })
                       .ok());
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(second_syncs);
    return broken_;
  });
  second.join();
  EXPECT_FALSE(first.ok());
  EXPECT_FALSE(second_syncs);
}

class DirectorySyncs : public EngineFixture {
 protected:
  void SetUp() override {
    fault_ = &watch_files();
    EngineOptions options;
    options.automatic_compaction = false;
    open(options);
    table_ = make_table("t", {family("f")});
  }
  void write(const std::string& row) { EXPECT_OK(table_->put(Put(row).add("f", "q", "v"))); }
  FaultFileSystem* fault_ = nullptr;
  std::shared_ptr<Table> table_;
};

// The flush has created its file when the sync of the compaction fails. Its own sync would succeed.
TEST_F(DirectorySyncs, AFlushDoesNotPublishWhatACompactionMayHaveLost) {
  for (const char* row : {"a", "b"}) {
    write(row);
    EXPECT_OK(engine_->flush());
  }
  write("c");
  Status flushed;
  std::thread flush;
  std::atomic<int> syncs = 0;
  const auto event = make_thread_executor(1, 1)->make_event();
  fault_->fail(FileOperation::kDirectorySync, "tables/1/f", 1);
  fault_->before_each([&](const FileCall& call) {
    if (call.operation == FileOperation::kSync && name_matches("tables/*", call.name) && ++syncs == 2)
      event->signal();  // the file of the flush is whole
    if (call.operation != FileOperation::kDirectorySync || call.name != "tables/1/f" || flush.joinable())
      return;
    flush = std::thread([&] { flushed = table_->flush(); });
    event->wait(0, -1);
  });
  EXPECT_TRUE(table_->major_compact().is(Code::kIoError));
  flush.join();
  fault_->before_each({});
  EXPECT_FALSE(flushed.ok()) << "the name of its file may be lost";
  EXPECT_TRUE(table_->put(Put("d").add("f", "q", "v")).is(Code::kReadOnly));
  EXPECT_OK(engine_->resume());
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(scan(*table_, Scan()).size(), 3u);
}

// The name of the table's directory was lost. A later attempt makes another directory.
TEST_F(DirectorySyncs, ATableIsNotMadeInADirectoryThatMayBeLost) {
  for (const char* synced : {"tables/*", "tables"}) {
    const std::string directory = std::string("tables/") + (std::string_view(synced) == "tables" ? "4" : "2");
    fault_->fail(FileOperation::kDirectorySync, synced, 1);
    EXPECT_TRUE(engine_->create_table("u", {.families = {family("f")}}).status().is(Code::kIoError));
    EXPECT_TRUE(table_->put(Put("d").add("f", "q", "v")).is(Code::kReadOnly)) << synced;
    EXPECT_OK(engine_->resume());
    fault_->clear_log();
    EXPECT_OK(engine_->create_table("u", {.families = {family("f")}}).status());
    EXPECT_EQ(fault_->count(FileOperation::kDirectory, directory), 0u) << "it is used again";
    EXPECT_OK(engine_->drop_table("u"));
  }
}

TEST_F(DirectorySyncs, AFamilyIsNotMadeInADirectoryThatMayBeLost) {
  fault_->fail(FileOperation::kDirectorySync, "tables/1", 1);
  EXPECT_TRUE(engine_->alter_family("t", family("g")).is(Code::kIoError));
  EXPECT_TRUE(files_->open_directory("store/tables/1/g", false).status().is(Code::kNotFound));
  EXPECT_OK(engine_->resume());
  EXPECT_OK(engine_->alter_family("t", family("g")));
  EXPECT_OK(table_->put(Put("a").add("g", "q", "v")));
  EXPECT_OK(engine_->flush());
  EXPECT_EQ(scan(*table_, Scan()).size(), 1u);
}

// The family has no files yet. Its directory looks like a new one.
TEST_F(DirectorySyncs, AFamilyThatIsEmptiedKeepsItsDirectory) {
  fault_->fail(FileOperation::kDirectorySync, "tables/1", 1);
  EXPECT_TRUE(engine_->truncate_table("t").is(Code::kIoError));
  EXPECT_OK(engine_->resume());
  write("a");
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->truncate_table("t"));
  write("b");
  EXPECT_OK(engine_->flush());
  EXPECT_EQ(scan(*table_, Scan()).size(), 1u);
}

// The name of CURRENT is in the same directory as that of "snapshots".
TEST_F(DirectorySyncs, ASnapshotThatMayBeLostIsMadeAgain) {
  write("a");
  for (const char* synced : {".", "snapshots"}) {
    fault_->fail(FileOperation::kDirectorySync, synced, 1);
    EXPECT_TRUE(engine_->named_snapshots().create("s").status().is(Code::kIoError)) << synced;
    EXPECT_TRUE(table_->put(Put("d").add("f", "q", "v")).is(Code::kReadOnly)) << synced;
    EXPECT_OK(engine_->resume());
    EXPECT_TRUE(engine_->named_snapshots().list()->empty());
    EXPECT_OK(engine_->named_snapshots().create("s").status());
    EXPECT_EQ(engine_->named_snapshots().list()->size(), 1u);
    EXPECT_OK(engine_->named_snapshots().drop("s"));
  }
}

}  // namespace
}  // namespace cellar::testing
