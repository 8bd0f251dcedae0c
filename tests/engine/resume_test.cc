// Goal: a fault that is over is over. The engine takes writes again by itself, or after resume() where a
// person must decide. Health and troubles describe the fault as long as it lasts. No acknowledged write is
// lost. Method: an engine over files that fail on request. Each class of fault strikes, is healed, and is
// followed by writes. The store is then opened again, without the bytes that the faulty engine did not write.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cellar/compaction_policy.h"
#include "engine/log/directory.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/pairs_policy.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/status_text.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

constexpr WriteOptions kDurable{.durability = Durability::kFsyncWal};

class ResumeTest : public EngineFixture {
 protected:
  ResumeTest() {
    options_.log_segment_bytes = 64 << 10;
    options_.stall_ms_max = 300'000;
  }
  void SetUp() override {
    fault_ = &watch_files();
    begin();
  }
  void begin() {
    open(options_);
    table_ = make_table("t", {family("d", 100)});
  }
  Status put(const std::string& row, size_t bytes = 10, const WriteOptions& how = {}) {
    const Status status = table_->put(Put(row).add("d", "q", std::string(bytes, 'v')), how);
    if (status.ok()) rows_.push_back(row);
    return status;
  }
  void fail_writes(const std::string& name, FileOperations on, uint64_t nth, Code code, bool sticky = false) {
    fault_->inject({.on = on, .name = name, .nth = nth, .sticky = sticky, .code = code});
  }
  Texts troubles() {
    Texts names;
    for (const Trouble& each : engine_->status().troubles) names.push_back(each.what);
    return names;
  }
  uint64_t highest_segment() {
    uint64_t highest = 0, id = 0;
    for (const DirectoryEntry& each : files_->open_directory("store/wal", false).value()->list().value())
      if (parse_segment_name(each.name, id)) highest = std::max(highest, id);
    return highest;
  }
  std::string newest_manifest() {
    uint64_t highest = 0, generation = 0;
    for (const DirectoryEntry& each : files_->open_directory("store", false).value()->list().value())
      if (parse_manifest_name(each.name, generation)) highest = std::max(highest, generation);
    return manifest_name(highest);
  }
  // Everything acknowledged is there, in this engine and in the next one.
  void expect_all() {
    std::ranges::sort(rows_);
    for (int round = 0; round < 2; ++round) {
      Texts found;
      for (const std::string& each : scan(*table_, Scan())) found.push_back(each.substr(0, each.find('/')));
      EXPECT_EQ(found, rows_) << "round " << round;
      if (round == 1) return;
      EXPECT_OK(engine_->close());
      table_.reset();
      begin();
    }
  }
  void expect_healthy() {
    EXPECT_OK(engine_->status().health);
    EXPECT_EQ(troubles(), Texts{});
  }
  // Writes are refused until resume() is called.
  void expect_end_by_resume() {
    EXPECT_TRUE(put("refused").is(Code::kReadOnly));
    EXPECT_FALSE(engine_->status().health.ok());
    EXPECT_OK(engine_->resume());
    EXPECT_OK(put("later", 10, kDurable));
    expect_healthy();
    expect_all();
  }

  EngineOptions options_;
  FaultFileSystem* fault_ = nullptr;
  std::shared_ptr<Table> table_;
  Texts rows_;
};

TEST_F(ResumeTest, OneFailedEditOfTheManifestRefusesNothing) {
  EXPECT_OK(put("a"));
  fail_writes("MANIFEST-*", FileOperation::kAppend, 1, Code::kNoSpace);
  EXPECT_TRUE(engine_->flush().is(Code::kNoSpace));
  EXPECT_EQ(troubles(), Texts{"flush of t:d"});
  EXPECT_OK(put("b"));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->alter_family("t", family("e")));
  expect_healthy();
  expect_all();
}

TEST_F(ResumeTest, ManifestThatCannotBeRolledEither) {
  EXPECT_OK(put("a"));
  fail_writes("MANIFEST-*", {FileOperation::kAppend, FileOperation::kCreate}, 1, Code::kNoSpace, true);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(engine_->flush().is(Code::kNoSpace));
  EXPECT_OK(put("b"));
  fault_->clear();
  EXPECT_OK(engine_->flush());
  expect_healthy();
  expect_all();
}

TEST_F(ResumeTest, SegmentThatCannotBeMadeRefusesOnlyWhatNeedsIt) {
  for (const Code code : {Code::kIoError, Code::kNoSpace}) {
    fail_writes("*.log", FileOperation::kCreate, 1, code, true);
    Status refused;
    for (int i = 0; i < 100 && refused.ok(); ++i) refused = put(std::to_string(rows_.size()), 10'000);
    EXPECT_TRUE(refused.is(code)) << refused.to_text();
    EXPECT_EQ(troubles(), Texts{"log"});
    EXPECT_FALSE(engine_->status().health.ok());
    EXPECT_TRUE(engine_->status().troubles.front().writes_wait);
    fault_->clear();
    EXPECT_OK(put(std::to_string(rows_.size()), 10'000));
    expect_healthy();
  }
  expect_all();
}

// On a disk without room a store does not open for writing, and says how much it needs.
TEST_F(ResumeTest, FirstSegmentThatCannotBeMade) {
  EXPECT_OK(put("a"));
  table_.reset();
  engine_.reset();
  fail_writes("*.log", FileOperation::kCreate, 1, Code::kNoSpace, true);
  EngineOptions options = options_;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  for (const char* store : {"store", "new"}) {
    options.create_if_missing = store == std::string("new");
    const Status refused = Engine::open(store, options).status();
    EXPECT_TRUE(refused.is(Code::kNoSpace)) << refused.to_text();
    EXPECT_NE(refused.to_text().find(" bytes"), std::string::npos) << refused.to_text();
  }
  fault_->clear();
  EXPECT_OK(Engine::open("new", options).status());
  begin();
  expect_all();
}

// An attempt leaves a file, and the next attempts cannot remove it.
TEST_F(ResumeTest, SegmentWhoseRestCannotBeRemovedEither) {
  const std::string next = fmt::format("wal/{}", segment_name(highest_segment() + 1));
  fail_writes(next, {FileOperation::kSync, FileOperation::kUnlink}, 1, Code::kIoError, true);
  for (int i = 0; i < 20; ++i) static_cast<void>(put(std::to_string(i), 10'000));
  EXPECT_LT(rows_.size(), 20u);
  EXPECT_GE(fault_->struck(), 4u) << "more than one attempt";
  EXPECT_EQ(troubles(), Texts{"log"});
  // The cause is told, not what the file of the first attempt leads to.
  const std::string why = engine_->status().troubles.front().status.to_text();
  EXPECT_EQ(why.find("exist"), std::string::npos) << why;
  fault_->clear();
  for (int i = 0; i < 20; ++i) EXPECT_OK(put("later" + std::to_string(i), 10'000));
  expect_healthy();
  expect_all();
}

// The next two cases are rows of the table in docs/resumption.md.
TEST_F(ResumeTest, AppendToTheLogThatFailsIsEndedByResume) {
  EXPECT_OK(put("a"));
  fail_writes("*.log", FileOperation::kAppend, 1, Code::kIoError);
  EXPECT_FALSE(put("lost").ok());
  expect_end_by_resume();
}

TEST_F(ResumeTest, DirectoryOfStoreFilesThatCannotBeSyncedIsEndedByResume) {
  EXPECT_OK(put("a"));
  fail_writes("tables/1/d", FileOperation::kDirectorySync, 1, Code::kIoError);
  EXPECT_FALSE(engine_->flush().ok());
  EXPECT_EQ(fault_->struck(), 1u);
  expect_end_by_resume();
}

TEST_F(ResumeTest, SegmentWhoseNameCannotBeSynced) {
  fail_writes("wal", FileOperation::kDirectorySync, 1, Code::kIoError);
  for (int i = 0; i < 20; ++i) static_cast<void>(put(std::to_string(i), 10'000));
  EXPECT_GE(rows_.size(), 19u);
  EXPECT_GE(fault_->struck(), 1u);
  expect_healthy();
  expect_all();
}

TEST_F(ResumeTest, FailedSyncOfTheLogIsEndedByResume) {
  EXPECT_OK(put("a"));
  EXPECT_OK(put("b", 10, {.durability = Durability::kSkipWal}));
  fail_writes("*.log", FileOperation::kSync, 1, Code::kIoError);
  const Status unknown = put("lost", 10, kDurable);
  EXPECT_TRUE(unknown.is(Code::kDurabilityUnknown)) << unknown.to_text();
  for (int i = 0; i < 2; ++i) {
    const Status refused = put("c");
    EXPECT_TRUE(refused.is(Code::kReadOnly)) << refused.to_text();
    EXPECT_NE(refused.hint().find("resume()"), std::string::npos) << refused.to_text();
  }
  EXPECT_TRUE(engine_->status().health.is(Code::kReadOnly));
  EXPECT_OK(engine_->resume());
  expect_healthy();
  EXPECT_OK(put("d", 10, kDurable));
  EXPECT_OK(put("e", 10, {.durability = Durability::kSkipWal}));
  expect_all();
  EXPECT_OK(engine_->resume());  // nothing to do
}

// The failed write has the highest sequence of the old log. Nothing is written after it for some lives.
TEST_F(ResumeTest, StoresOpenAgainAndAgainAfterAResume) {
  EXPECT_OK(put("a"));
  fail_writes("*.log", FileOperation::kSync, 1, Code::kIoError);
  EXPECT_TRUE(put("lost", 10, kDurable).is(Code::kDurabilityUnknown));
  const uint64_t bytes_put = table_->info().families[0].bytes_put;
  EXPECT_OK(engine_->resume());
  EXPECT_GE(table_->info().families[0].bytes_put, bytes_put) << "what resume() writes counts";
  EXPECT_GT(table_->info().families[0].bytes_flushed, 0u);
  const uint64_t last_sequence = engine_->status().last_sequence;
  for (int life = 0; life < 3; ++life) {
    EXPECT_OK(engine_->close());
    table_.reset();
    begin();
    expect_healthy();
    EXPECT_EQ(engine_->status().last_sequence, last_sequence);
  }
  EXPECT_OK(put("b"));
  expect_all();
}

TEST_F(ResumeTest, ResumeThatFailsCanBeTriedAgain) {
  EXPECT_OK(put("a"));
  fail_writes("*.log", FileOperation::kSync, 1, Code::kIoError);
  EXPECT_FALSE(put("lost", 10, kDurable).ok());
  for (const char* name : {"tables/*", "*.log", "MANIFEST-*"}) {
    fail_writes(name, {FileOperation::kAppend, FileOperation::kCreate}, 1, Code::kNoSpace, true);
    const Status resumed = engine_->resume();
    EXPECT_TRUE(resumed.is(Code::kNoSpace)) << name << ": " << resumed.to_text();
    EXPECT_FALSE(put("b").ok());
    EXPECT_EQ(get(*table_, Get("a")).size(), 1u) << "reads go on";
    fault_->clear();
  }
  EXPECT_OK(engine_->resume());
  EXPECT_OK(put("c"));
  EXPECT_OK(engine_->flush());
  uint64_t files = 0;
  for (const DirectoryEntry& each : files_->open_directory("store/tables/1/d", false).value()->list().value())
    files += each.is_directory ? 0 : 1;
  EXPECT_EQ(files, table_->info().families[0].files.size()) << "what failed left files";
  expect_all();
}

TEST_F(ResumeTest, UnknownEditOfTheManifestIsUndoneByResume) {
  struct Case {
    const char* name;
    FileOperation on;
    uint64_t nth;
  };
  // The first edit is appended. The second begins a generation, since half a record stands in the one before.
  // CURRENT names the old generation, or perhaps the new one.
  for (const Case& each :
       {Case{"MANIFEST-*", FileOperation::kSync, 1}, Case{"CURRENT.tmp", FileOperation::kRename, 1},
        Case{".", FileOperation::kDirectorySync, 1}, Case{".", FileOperation::kDirectorySync, 2}}) {
    EXPECT_OK(put("a" + std::to_string(rows_.size())));
    const uint64_t before = fault_->struck();
    const uint64_t renamed = fault_->count(FileOperation::kRename, "CURRENT.tmp");
    if (each.on != FileOperation::kSync) {
      fail_writes("MANIFEST-*", FileOperation::kAppend, 1, Code::kNoSpace);
      EXPECT_TRUE(engine_->create_table("x", {.families = {family("d")}}).status().is(Code::kNoSpace));
    }
    fail_writes(each.name, each.on, each.nth, Code::kIoError);
    EXPECT_FALSE(engine_->create_table("x", {.families = {family("d")}}).ok()) << each.name;
    EXPECT_GT(fault_->struck(), before);
    EXPECT_TRUE(put("refused").is(Code::kReadOnly)) << each.name;
    // CURRENT may name the newest manifest if it was renamed: that one stays until CURRENT names another.
    const std::string tried = newest_manifest();
    bool named = fault_->count(FileOperation::kRename, "CURRENT.tmp") > renamed;
    bool resumes = false;
    fault_->before_each([&](const FileCall& call) {
      EXPECT_FALSE(named && call.operation == FileOperation::kUnlink && call.name == tried) << each.name;
      resumes = resumes || call.operation == FileOperation::kRename;
      named = named && !resumes;
    });
    EXPECT_OK(engine_->resume());
    EXPECT_TRUE(resumes);
    fault_->before_each(nullptr);
    EXPECT_OK(put("c" + std::to_string(rows_.size())));
    EXPECT_EQ(engine_->list_tables(), Texts{"t"});
    fault_->clear();
  }
  expect_healthy();
  expect_all();
}

// An error that several layers pass on names the manifest or the log once.
TEST_F(ResumeTest, AnErrorNamesItsPartOnce) {
  struct Case {
    const char* name;
    FileOperation on;
    std::string part;
  };
  for (const Case& each : {Case{"MANIFEST-*", FileOperation::kSync, "manifest: "},
                           Case{"CURRENT.tmp", FileOperation::kRename, "manifest: "},
                           Case{"*.log", FileOperation::kAppend, "write-ahead log: "},
                           Case{"*.log", FileOperation::kSync, "log segment "}}) {
    SCOPED_TRACE(each.name);
    EXPECT_OK(put("a" + std::to_string(rows_.size())));
    if (each.on == FileOperation::kRename) {
      fail_writes("MANIFEST-*", FileOperation::kAppend, 1, Code::kNoSpace);
      EXPECT_FALSE(engine_->create_table("x", {.families = {family("d")}}).ok());
    }
    fail_writes(each.name, each.on, 1, Code::kIoError);
    const Status failed = each.part == "manifest: "
                              ? engine_->create_table("x", {.families = {family("d")}}).status()
                              : put("lost", 10, kDurable);
    const Status health = engine_->status().health;
    EXPECT_FALSE(failed.ok());
    for (const Status& status : {failed, health}) {
      EXPECT_FALSE(names_a_part_twice(status)) << status.to_text();
      const std::string text(status.message());
      const size_t at = text.find(each.part);
      ASSERT_NE(at, std::string::npos) << text;
      EXPECT_EQ(text.find(each.part, at + 1), std::string::npos) << text;
      EXPECT_EQ(text.find("log: log"), std::string::npos) << text;
    }
    EXPECT_OK(engine_->resume());
    fault_->clear();
  }
  expect_healthy();
  expect_all();
}

// Jobs that failed are tried again when time has passed, which here is the manual clock's.
class RetryTest : public ResumeTest {
 protected:
  void SetUp() override {
    options_.environment.executor = &executor_;
    ResumeTest::SetUp();
  }
  void TearDown() override {  // the engine goes before its executor
    table_.reset();
    engine_.reset();
  }
  // The longest time between two tries of a job.
  void wait_for_retries() { executor_.pause_us(61'000'000); }

  StepExecutor executor_{1, clock_};
};

TEST_F(RetryTest, FlushThatFailsIsTriedAgainByItself) {
  options_.memtable_bytes = 64 << 10;
  begin();
  fail_writes("tables/*", FileOperation::kCreate, 1, Code::kIoError, true);
  for (int i = 0; i < 100; ++i) EXPECT_OK(put(std::to_string(i), 1000));
  EXPECT_FALSE(engine_->wait_for_background().ok());
  EXPECT_EQ(troubles(), Texts{"flush of t:d"});
  EXPECT_FALSE(engine_->status().health.ok()) << "health says it, although writes are taken";
  fault_->clear();
  wait_for_retries();
  expect_healthy();
  EXPECT_GE(table_->info().families[0].files.size(), 1u);
  expect_all();
}

TEST_F(RetryTest, AWriteThatWaitedForAFailingFlushIsToldItsCause) {
  options_.memtable_bytes = 64 << 10;
  options_.memtables_frozen_max = 1;
  options_.stall_ms_max = 2000;
  begin();
  fail_writes("tables/*", FileOperation::kCreate, 1, Code::kIoError, true);
  Status refused;
  for (int i = 0; i < 400 && refused.ok(); ++i) refused = put(std::to_string(i), 1000);
  EXPECT_TRUE(refused.is(Code::kBusy)) << refused.to_text();
  EXPECT_NE(refused.to_text().find("the flush of t:d fails: "), std::string::npos) << refused.to_text();
  EXPECT_EQ(refused.to_text().find("write more slowly"), std::string::npos) << refused.to_text();
  fault_->clear();
  EXPECT_OK(engine_->flush());
  EXPECT_OK(put("later"));
  expect_healthy();
  expect_all();
}

// A disk that stays full is not kept busy: pauses grow from a second to a minute.
TEST_F(RetryTest, FlushThatGoesOnFailingIsTriedLessAndLessOften) {
  options_.memtable_bytes = 64 << 10;
  begin();
  fail_writes("MANIFEST-*", {FileOperation::kAppend, FileOperation::kCreate}, 1, Code::kNoSpace, true);
  const auto files_made = [&] { return fault_->count(FileOperation::kCreate, "tables/*"); };
  for (int i = 0; i < 100; ++i) EXPECT_OK(put(std::to_string(i), 1000));
  EXPECT_FALSE(engine_->wait_for_background().ok());
  const uint64_t before = files_made(), steps = executor_.steps();
  executor_.pause_us(600'000'000);
  EXPECT_LT(executor_.steps() - steps, 2'000u) << "no thread wakes between two tries";
  // After 1, 3, 7, 15, 31, 63 seconds, and then every minute: 14 tries.
  EXPECT_EQ(files_made() - before, 14u);
  fault_->clear();
  EXPECT_OK(engine_->flush());
  expect_healthy();
  expect_all();
}

class CompactionFaults : public RetryTest {
 protected:
  void SetUp() override {
    options_.files_slow = 4;
    options_.files_stop = 5;
    RetryTest::SetUp();
  }
  void make_files(int count) {
    for (int i = 0; i < count; ++i) {
      EXPECT_OK(put("r" + std::to_string(rows_.size()), 100));
      EXPECT_OK(engine_->flush());
    }
  }
  // Compacts three files, of which the second cannot be read soundly. Returns its name.
  std::string compact_a_damaged_file() {
    options_.automatic_compaction = false;
    begin();
    make_files(3);
    const std::string victim = table_->info().families[0].files[1].name;
    fault_->inject(
        {.on = FileOperation::kRead, .name = "*" + victim, .nth = 0, .kind = Fault::Kind::kFlipBit});
    const Status damaged = table_->major_compact();
    EXPECT_TRUE(damaged.is(Code::kCorruption)) << damaged.to_text();
    EXPECT_EQ(troubles(), Texts{"damaged file " + victim});
    return victim;
  }
};

TEST_F(CompactionFaults, FailingCompactionsDoNotStopWrites) {
  make_files(1);
  const std::string oldest = table_->info().families[0].files[0].name;
  fail_writes("*" + oldest, FileOperation::kRead, 1, Code::kIoError, true);
  make_files(11);
  static_cast<void>(engine_->wait_for_background());
  EXPECT_EQ(rows_.size(), 12u) << "no write waited";
  EXPECT_EQ(troubles(), Texts{"compaction of t:d"});
  EXPECT_FALSE(engine_->status().health.ok());
  fault_->clear();
  wait_for_retries();
  EXPECT_OK(engine_->wait_for_background());
  expect_healthy();
  EXPECT_LT(table_->info().families[0].files.size(), 5u);
  expect_all();
}

// Each try reads and writes for nothing, so flushes do not bring about another one before it is due.
TEST_F(CompactionFaults, ACompactionThatFailsWaitsForItsNextTry) {
  make_files(1);
  const std::string oldest = table_->info().families[0].files[0].name;
  fail_writes("*" + oldest, FileOperation::kRead, 1, Code::kIoError, true);
  const auto tries = [&] { return fault_->count(FileOperation::kRead, "*" + oldest); };
  while (troubles().empty()) make_files(1);
  const uint64_t failed = tries();
  make_files(10);
  EXPECT_EQ(tries(), failed) << "no time has passed";
  executor_.pause_us(600'000'000);
  EXPECT_GT(tries(), failed);
  fault_->clear();
  wait_for_retries();
  EXPECT_OK(engine_->wait_for_background());
  expect_healthy();
  expect_all();
}

TEST_F(CompactionFaults, DamagedInputIsSetAside) {
  const std::string victim = compact_a_damaged_file();
  make_files(8);
  EXPECT_OK(table_->compact());
  const auto files = table_->info().families[0].files;
  EXPECT_LT(files.size(), 8u) << "the files after the damaged one were compacted";
  EXPECT_TRUE(std::ranges::any_of(files, [&](const auto& file) { return file.name == victim; }));
  fault_->clear();
  EXPECT_OK(table_->major_compact());  // a compaction on request reads it again
  EXPECT_EQ(table_->info().families[0].files.size(), 1u);
  expect_healthy();
  expect_all();
}

TEST_F(CompactionFaults, TroublesEndWithTheirTable) {
  compact_a_damaged_file();
  EXPECT_OK(engine_->truncate_table("t"));
  EXPECT_EQ(troubles(), Texts{});
  fail_writes("tables/*", FileOperation::kCreate, 1, Code::kIoError, true);
  EXPECT_OK(put("a"));
  EXPECT_FALSE(table_->flush().ok());
  EXPECT_FALSE(troubles().empty());
  EXPECT_OK(engine_->drop_table("t"));
  expect_healthy();
}

// Damaged files that compactions leave out are not among those for which writers wait.
TEST_F(CompactionFaults, DamagedInputsDoNotStopWrites) {
  EXPECT_OK(engine_->alter_table("t", {.compaction_enabled = false}));
  make_files(4);
  const TableInfo info = table_->info();
  for (const StoreFileInfo& file : info.families[0].files)
    fault_->inject(
        {.on = FileOperation::kRead, .name = "*" + file.name, .nth = 0, .kind = Fault::Kind::kFlipBit});
  EXPECT_OK(engine_->alter_table("t", {.compaction_enabled = true}));
  for (int i = 0; i < 12; ++i) {
    make_files(1);
    static_cast<void>(engine_->wait_for_background());
  }
  EXPECT_EQ(rows_.size(), 16u) << "no write waited";
  const Texts told = troubles();
  const auto aside =
      std::ranges::count_if(told, [](const auto& each) { return each.starts_with("damaged file "); });
  EXPECT_GE(aside, 1);
  EXPECT_FALSE(engine_->status().health.ok());
  const auto files = [&] { return table_->info().families[0].files.size(); };
  EXPECT_LT(files(), 4u + 5u) << "the sound files were compacted";
  // A policy that compacts only when files_stop is reached shows which files count: not those set aside.
  FamilyOptions patient = family("d", 100);
  patient.compaction = "exploring(files_min=20, files_max=30)";
  patient.files_stop = 10;
  EXPECT_OK(engine_->alter_table("t", {.set_families = {patient}}));
  while (files() < patient.files_stop + static_cast<size_t>(aside) - 1) {
    const size_t before = files();
    make_files(1);
    static_cast<void>(engine_->wait_for_background());
    ASSERT_EQ(files(), before + 1);
  }
  make_files(1);
  static_cast<void>(engine_->wait_for_background());
  EXPECT_EQ(files(), 4u + 1u);
  fault_->clear();
  EXPECT_OK(table_->major_compact());
  expect_healthy();
  expect_all();
}

// Merges the two newest files that are free if there are three. Says that there is a debt, whatever it does.
class Indebted final : public CompactionPolicy {
 public:
  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    std::vector<uint64_t> idle;
    for (const StoreFileInfo& file : shape.files) {
      if (file.busy) idle.clear();
      if (!file.busy) idle.push_back(file.id);
    }
    if (idle.size() < 3) return std::nullopt;
    return CompactionPlan{.inputs = {idle[idle.size() - 2], idle.back()}, .why = "the newest two"};
  }
  uint64_t debt_bytes(const StoreShape&) const override { return uint64_t{1} << 40; }
};

// Each compaction takes a minute.
class MinuteOfCompaction final : public EventListener {
 public:
  explicit MinuteOfCompaction(StepExecutor& executor) : executor_(executor) {}
  void on_compaction_begin(const CompactionInfo&) override { executor_.pause_us(60'000'000); }

 private:
  StepExecutor& executor_;
};

// A damaged file may keep a level full for good. Writers do not slow down for such a debt.
TEST_F(CompactionFaults, ADebtThatADamagedFileKeepsDoesNotSlowWriters) {
  Registry<CompactionPolicy>::instance().add(
      "indebted", [](const PluginParams&) { return std::make_unique<Indebted>(); });
  MinuteOfCompaction listener(executor_);
  options_.environment.events = &listener;
  options_.files_slow = 40;
  options_.files_stop = 50;
  begin();
  FamilyOptions indebted = family("d", 100);
  indebted.compaction = "indebted";
  EXPECT_OK(engine_->alter_table("t", {.set_families = {indebted}}));
  // How long writes of a megabyte take while a compaction runs.
  const auto time_of_writes = [&] {
    make_files(3);
    const int64_t begun_us = clock_.steady_us();
    for (int i = 0; i < 20; ++i) EXPECT_OK(put("large" + std::to_string(rows_.size()), 50'000));
    return clock_.steady_us() - begun_us;
  };
  EXPECT_GT(time_of_writes(), 1'000'000);
  EXPECT_OK(engine_->wait_for_background());
  const std::string victim = table_->info().families[0].files[0].name;
  fault_->inject({.on = FileOperation::kRead, .name = "*" + victim, .nth = 0, .kind = Fault::Kind::kFlipBit});
  EXPECT_TRUE(table_->major_compact().is(Code::kCorruption));
  EXPECT_EQ(time_of_writes(), 0);
  fault_->clear();
  EXPECT_OK(engine_->wait_for_background());
  table_.reset();
  engine_.reset();  // before its listener
}

// Compactions of several pairs of files fail at the same time. Their tries do not multiply.
TEST_F(CompactionFaults, CompactionsThatFailTogetherAreTriedOneByOne) {
  Pairs::add();
  options_.files_slow = 40;
  options_.files_stop = 50;
  options_.automatic_compaction = false;
  begin();
  FamilyOptions pairs = family("d", 100);
  pairs.compaction = "pairs";
  EXPECT_OK(engine_->alter_table("t", {.set_families = {pairs}}));
  make_files(12);
  const auto tries = [&] { return fault_->count(FileOperation::kCreate, "tables/*"); };
  options_.automatic_compaction = true;
  fail_writes("tables/*", FileOperation::kCreate, 1, Code::kIoError, true);
  begin();
  static_cast<void>(engine_->wait_for_background());
  const uint64_t before = tries();
  executor_.pause_us(600'000'000);
  // Pauses grow to a minute, and each failure makes them longer.
  EXPECT_LE(tries() - before, 16u);
  EXPECT_GE(tries() - before, 8u);
  EXPECT_EQ(troubles(), Texts{"compaction of t:d"});
  fault_->clear();
  wait_for_retries();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(table_->info().families[0].files.size(), 1u);
  expect_healthy();
  expect_all();
}

// A policy that plans no compaction makes no room. A write that waited for it would wait for good.
TEST_F(CompactionFaults, APolicyThatWantsNothingDoesNotStopWrites) {
  FamilyOptions wants_none = family("d", 100);
  wants_none.compaction = "none";
  EXPECT_OK(engine_->alter_table("t", {.set_families = {wants_none}}));
  for (int i = 0; i < 12; ++i) {
    make_files(1);
    EXPECT_OK(engine_->wait_for_background());
  }
  EXPECT_EQ(table_->info().families[0].files.size(), 12u);
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family("d", 100)}}));
  make_files(1);
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_LT(table_->info().families[0].files.size(), 5u);
  expect_healthy();
  expect_all();
}

TEST_F(ResumeTest, HealthSaysThatWritersWait) {
  options_.automatic_flush = true;
  options_.memtable_bytes = 64 << 10;
  options_.memtable_bytes_total = 256 << 10;
  options_.memtables_frozen_max = 1;
  begin();
  fail_writes("tables/*", FileOperation::kCreate, 1, Code::kIoError, true);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 400; ++i) EXPECT_OK(put(std::to_string(i), 1000));
    done = true;
  });
  bool seen = false;
  for (int i = 0; i < 2000 && !seen && !done; ++i) {
    for (const Trouble& each : engine_->status().troubles) seen = seen || each.what == "writers";
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(seen);
  EXPECT_TRUE(engine_->status().health.is(Code::kBusy)) << engine_->status().health.to_text();
  fault_->clear();
  for (int i = 0; i < 1000 && !done; ++i) {
    clock_.advance_ms(100);
    static_cast<void>(engine_->flush().ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  writer.join();
  EXPECT_OK(engine_->flush());
  expect_healthy();
  expect_all();
}

// Somebody else has a file of the name that the next flush chooses.
TEST_F(ResumeTest, FlushRemovesNoFileThatItDidNotMake) {
  EXPECT_OK(put("a"));
  EXPECT_OK(engine_->flush());
  std::string next = table_->info().families[0].files[0].name;
  next.back() = static_cast<char>(next.back() + 1);
  const auto directory = files_->open_directory("store/tables/1/d", false).value();
  EXPECT_OK(directory->create(next, {}).value()->append("not yours"));
  EXPECT_OK(put("b"));
  // It fails, unless it was tried again before this thread could see that.
  static_cast<void>(engine_->flush().ok());
  EXPECT_OK(directory->open(next).status());  // the flush removed it
  EXPECT_OK(engine_->flush());                // the next one has another number
  const std::vector<StoreFileInfo> files = table_->info().families[0].files;
  ASSERT_EQ(files.size(), 2u);
  const std::string newest = std::max(files[0].name, files[1].name);
  EXPECT_GT(newest, next) << "the name was never tried";
  EXPECT_EQ(newest.substr(0, newest.size() - 1), next.substr(0, next.size() - 1));
  EXPECT_OK(directory->unlink(next));
  expect_all();
}

}  // namespace
}  // namespace cellar::testing
