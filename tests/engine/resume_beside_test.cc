// Goal: resume() ends a failure while other threads are still busy with it. It does not fail because of a
// thread that is late. Removals that had to wait for it are done. The log that it keeps is durable, although
// further syncs of its files do nothing and say ok.
// Method: an engine over files that stop one thread in the middle of a call until another has got to a known
// place. Manifests are read from the files. Crashes lose what was not synced.
#include <atomic>
#include <chrono>
#include <thread>

#include "engine/manifest/manifest.h"
#include "engine/store/health.h"
#include "engine/store/world.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/feed_support.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {
namespace {

constexpr WriteOptions kFsynced{.durability = Durability::kFsyncWal};

TEST(HealthOfAnEngine, AFailureThatIsOverIsNotToldAgain) {
  const cellar::World world(EngineOptions(), "store");
  const std::unique_ptr<Event> changed = world.executor.make_event();
  Health health(world, *changed);
  const Status broken = Status::io_error("the medium is broken");
  const uint64_t seen = health.resumes();
  health.fail(broken);
  EXPECT_TRUE(health.fail_since(seen, broken));
  EXPECT_FALSE(health.clear(1)) << "there were two";
  EXPECT_TRUE(health.clear(2));
  EXPECT_OK(health.check());
  EXPECT_FALSE(health.fail_since(seen, broken)) << "a thread that is late";
  EXPECT_OK(health.check());
  EXPECT_TRUE(health.fail_since(health.resumes(), broken));
  EXPECT_FALSE(health.check().ok());
  health.fail(broken, Health::Ends::kByReopen);
  EXPECT_FALSE(health.clear(health.failures())) << "only a reopen ends it";
  EXPECT_TRUE(health.failed());
}

class ResumeBeside : public EngineFixture {
 protected:
  void SetUp() override {
    fault_ = &watch_files();
    begin();
  }
  void begin() {
    EngineOptions options;
    options.automatic_compaction = false;
    options.log_segment_bytes = 64 << 10;
    open(options);
    table_ = make_table("t", {family("f")});
  }
  Status put(const std::string& row, size_t bytes = 10, const WriteOptions& how = {}) {
    return table_->put(Put(row).add("f", "q", std::string(bytes, 'v')), how);
  }
  void fail_the_log() {
    fault_->fail(FileOperation::kSync, "*.log", 1);
    EXPECT_TRUE(put("lost", 10, kFsynced).is(Code::kDurabilityUnknown));
  }
  std::vector<uint32_t> dropped_families() {
    const auto root = files_->open_directory("store", false).value();
    const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
    return Manifest::load(*root, *executor, {.read_only = true}).value()->state().dropped_families;
  }
  size_t files_in(const std::string& directory) {
    return files_->open_directory("store/" + directory, false).value()->list().value().size();
  }

  FaultFileSystem* fault_ = nullptr;
  std::shared_ptr<Table> table_;
};

// The compaction has its output when the manifest fails. It finds that out while resume() is under way.
TEST_F(ResumeBeside, AJobThatIsLateDoesNotMakeItFail) {
  for (const char* row : {"a", "b"}) {
    EXPECT_OK(put(row));
    EXPECT_OK(engine_->flush());
  }
  const std::unique_ptr<Executor> events = make_thread_executor(1, 1);
  const auto stopped = events->make_event();
  const auto go_on = events->make_event();
  std::thread compaction;
  std::atomic<int> place = 0;
  fault_->before_each([&](const FileCall& call) {
    if (call.operation == FileOperation::kSync && name_matches("tables/*", call.name) && place == 0) {
      place = 1;
      stopped->signal();
      go_on->wait(0, -1);
    } else if (call.operation == FileOperation::kCreate && name_matches("MANIFEST-*", call.name) &&
               place == 2) {
      place = 3;
      go_on->signal();
      compaction.join();
    }
  });
  Status compacted;
  compaction = std::thread([&] { compacted = table_->major_compact(); });
  stopped->wait(0, -1);
  fault_->fail(FileOperation::kSync, "MANIFEST-*", 1);
  EXPECT_FALSE(engine_->create_table("u", {.families = {family("f")}}).ok());
  EXPECT_TRUE(put("c").is(Code::kReadOnly));
  place = 2;
  EXPECT_OK(engine_->resume());
  EXPECT_EQ(place, 3);
  EXPECT_FALSE(compacted.ok());
  EXPECT_OK(put("d"));
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(scan(*table_, Scan()).size(), 3u);
  EXPECT_OK(engine_->close());
  fault_->before_each({});
}

// Both change what the manifest keeps of the log for the feed.
TEST_F(ResumeBeside, AReleaseOfTheLogDoesNotMakeItFail) {
  EXPECT_OK(engine_->feeds().create("feed"));
  for (int i = 0; i < 20; ++i) EXPECT_OK(put(std::to_string(10 + i), 10'000));
  std::atomic<int> edits = 0;
  std::atomic<bool> failed = false;
  std::atomic<bool> restarted = false;
  const std::unique_ptr<Executor> events = make_thread_executor(1, 1);
  const auto released = events->make_event();
  fault_->before_each([&](const FileCall& call) {
    if (call.operation == FileOperation::kCreate && name_matches("*.log", call.name) && failed)
      restarted = true;
    if (call.operation != FileOperation::kSync || !name_matches("MANIFEST-*", call.name) || ++edits != 2)
      return;
    released->signal();  // the edit of the release, after that of the flush
    for (int i = 0; i < 40 && !restarted; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  std::thread flush([&] { EXPECT_OK(table_->flush()); });
  released->wait(0, -1);
  fail_the_log();
  failed = true;
  EXPECT_OK(engine_->resume());
  flush.join();
  fault_->before_each({});
  EXPECT_OK(put("later"));
  const auto reader = engine_->feeds().read("feed").value();
  EXPECT_EQ(read_all(*reader).size(), 21u);
}

TEST_F(ResumeBeside, FilesThatHadToStayAreRemovedAfterIt) {
  for (const char* row : {"a", "b"}) {
    EXPECT_OK(put(row));
    EXPECT_OK(engine_->flush());
  }
  auto scanner = table_->scan(Scan());
  ASSERT_TRUE(scanner.ok());
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(files_in("tables/1/f"), 3u) << "a scanner reads two of them";
  fail_the_log();
  scanner.value().reset();
  static_cast<void>(engine_->wait_for_background());
  EXPECT_EQ(files_in("tables/1/f"), 3u) << "nothing is removed while the engine has failed";
  EXPECT_OK(engine_->resume());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(files_in("tables/1/f"), 1u);
}

// The output of a compaction whose edit may survive. After resume() it cannot.
TEST_F(ResumeBeside, OutputsOfAnUnknownEditAreRemovedAfterIt) {
  for (const char* row : {"a", "b"}) {
    EXPECT_OK(put(row));
    EXPECT_OK(engine_->flush());
  }
  fault_->fail(FileOperation::kSync, "MANIFEST-*", 1);
  EXPECT_FALSE(table_->major_compact().ok());
  static_cast<void>(engine_->wait_for_background());
  EXPECT_EQ(files_in("tables/1/f"), 3u);
  EXPECT_OK(engine_->resume());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(files_in("tables/1/f"), 2u);
  EXPECT_EQ(scan(*table_, Scan()).size(), 2u);
}

class ForgottenFamilies : public ResumeBeside {
 protected:
  // Fills segments and flushes, so that those before are released.
  void go_on() {
    for (int i = 0; i < 20; ++i) EXPECT_OK(put("go on", 10'000));
    EXPECT_OK(engine_->flush());
    EXPECT_OK(engine_->wait_for_background());
  }
  void drop_a_table() {
    EXPECT_OK(make_table("u", {family("f")})->put(Put("r").add("f", "q", "v")));
    EXPECT_OK(engine_->drop_table("u"));
    EXPECT_EQ(dropped_families().size(), 1u);
  }
};

TEST_F(ForgottenFamilies, AreForgottenAfterAnEditThatFailed) {
  drop_a_table();
  for (int i = 0; i < 20; ++i) EXPECT_OK(put("go on", 10'000));
  fault_->fail(FileOperation::kAppend, "MANIFEST-*", 2, Code::kNoSpace);  // the edit after that of the flush
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(fault_->struck(), 1u);
  EXPECT_EQ(dropped_families().size(), 1u);
  go_on();
  EXPECT_EQ(dropped_families().size(), 0u);
}

TEST_F(ForgottenFamilies, AreForgottenByTheNextLifeOfTheStore) {
  drop_a_table();
  table_.reset();
  EXPECT_OK(engine_->close());
  begin();
  EXPECT_EQ(dropped_families().size(), 1u) << "the log mentions it";
  go_on();
  go_on();
  EXPECT_EQ(dropped_families().size(), 0u);
}

// After a sync that failed, further syncs of the same file say ok and do nothing.
TEST(KeptLog, IsDurableAlthoughASyncOfItHasFailed) {
  for (const bool reopened : {false, true}) {
    CrashFileSystem medium;
    FaultFileSystem files(medium);
    ManualClock clock;
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.clock = &clock;
    options.environment.files = &files;
    std::vector<std::string> expected;
    {
      auto engine = Engine::open("store", options).value();
      FamilyOptions f;
      f.name = "f";
      const auto table = engine->create_table("t", {.families = {f}}).value();
      EXPECT_OK(engine->feeds().create("feed"));
      EXPECT_OK(table->put(Put("a").add("f", "q", "v"), kFsynced));
      EXPECT_OK(table->put(Put("b").add("f", "q", "v")));
      files.fail(FileOperation::kSync, "*.log", 1);
      EXPECT_TRUE(table->put(Put("lost").add("f", "q", "v"), kFsynced).is(Code::kDurabilityUnknown));
      files.clear();
      files.swallow(FileOperation::kSync, "0000000001.log", 0);
      if (!reopened) {
        EXPECT_OK(engine->resume());
        EXPECT_OK(table->put(Put("c").add("f", "q", "v"), kFsynced));
      }
    }
    if (reopened) {
      auto engine = Engine::open("store", options).value();
      EXPECT_OK(engine->open_table("t").value()->put(Put("c").add("f", "q", "v"), kFsynced));
    }
    const auto image = medium.image(CrashMode::kLoseUnsynced);
    options.environment.files = image.get();
    auto engine = Engine::open("store", options);
    ASSERT_TRUE(engine.ok()) << engine.status().to_text();
    const auto reader = (*engine)->feeds().read("feed").value();
    std::string rows;
    for (const std::string& each : read_all(*reader)) rows += each.substr(each.find('/') + 1, 1);
    // Opening again keeps a write whose durability was unknown; resume() does not.
    EXPECT_EQ(rows, reopened ? "ablc" : "abc");
  }
}

}  // namespace
}  // namespace cellar::testing
