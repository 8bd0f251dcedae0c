// Goal: a store to which nobody writes still gives its space back. Expired files leave, and compactions
// because of expiry, markers or age begin when their time comes. The timer wakes up only when something is
// due, and never after the engine was closed.
// Method: the clock is moved by a deterministic executor, which counts its steps. Nothing is written after
// the first flushes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/pages.h"
#include "base/recycled.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr int64_t kHourUs = 3600 * kSecondUs;
constexpr int64_t kDayUs = 24 * kHourUs;

class Reasons final : public EventListener {
 public:
  std::vector<std::string> texts;

 private:
  void on_compaction_end(const CompactionInfo& info) override {
    EXPECT_OK(info.status);
    texts.push_back(info.table + ":" + info.family + " " + info.why);
  }
};

class IdleStore : public ::testing::Test {
 protected:
  void use(StepExecutor& executor) { executor_ = &executor; }
  void open(EngineOptions options = {}) {
    options.create_if_missing = true;
    options.environment = {
        .files = files_.get(), .clock = &clock_, .executor = executor_, .events = &reasons_};
    auto opened = Engine::open("store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    engine_ = std::move(opened).value();
  }
  std::shared_ptr<Table> make_table(const std::string& name, const std::string& options) {
    FamilyOptions family;
    family.name = "f";
    family.max_versions = 1;
    for (size_t at = 0; at < options.size();) {
      const size_t end = std::min(options.find(';', at), options.size());
      const std::string each = options.substr(at, end - at);
      EXPECT_OK(set_option(family, each.substr(0, each.find('=')), each.substr(each.find('=') + 1)));
      at = end + 1;
    }
    return engine_->create_table(name, {.families = {family}}).value();
  }
  void put_and_flush(Table& table, int from, int to) {
    for (int i = from; i < to; ++i)
      EXPECT_OK(table.put(Put("r" + std::to_string(i)).add("f", "q", std::string(100, 'v'))));
    EXPECT_OK(engine_->flush());
    EXPECT_OK(engine_->wait_for_background());
  }
  static size_t files_of(Table& table) { return table.info().families.at(0).files.size(); }
  // Lets the time pass, and what it begins end.
  void pass(int64_t us) {
    executor_->pause_us(us);
    executor_->settle();
    EXPECT_OK(engine_->wait_for_background());
  }

  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  ManualClock clock_;
  StepExecutor own_executor_{7, clock_};
  StepExecutor* executor_ = &own_executor_;
  Reasons reasons_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(IdleStore, ExpiredFilesLeaveWithoutAWrite) {
  open();
  const auto table = make_table("t", "ttl_s=3600;compaction=none");
  put_and_flush(*table, 0, 10);
  pass(kHourUs / 2);
  put_and_flush(*table, 10, 20);
  EXPECT_EQ(files_of(*table), 2u);
  pass(kHourUs / 2 - kSecondUs);
  EXPECT_EQ(files_of(*table), 2u) << "an age below the time to live is alive";
  pass(70 * kSecondUs);
  EXPECT_EQ(files_of(*table), 1u) << "the older file";
  pass(kHourUs / 2);
  EXPECT_EQ(files_of(*table), 0u);
  EXPECT_EQ(engine_->status().files_dropped, 2u);
}

TEST_F(IdleStore, TheIntervalOfMajorCompactionsCounts) {
  open({.major_compaction_interval_s = 7 * 86400});
  const auto table = make_table("t", "compaction=none");
  put_and_flush(*table, 0, 10);
  put_and_flush(*table, 5, 15);
  pass(7 * kDayUs - kHourUs);
  EXPECT_EQ(files_of(*table), 2u);
  pass(2 * kHourUs);
  EXPECT_EQ(files_of(*table), 1u);
  ASSERT_EQ(reasons_.texts.size(), 1u);
  EXPECT_EQ(reasons_.texts.front(), "t:f major compaction");
  pass(30 * kDayUs);
  EXPECT_EQ(reasons_.texts.size(), 1u) << "one file that is major has nothing to gain";
}

TEST_F(IdleStore, CellsThatExpireAreRewrittenAway) {
  open();
  const auto table = make_table("t", "ttl_s=86400;compaction=exploring(expired=0.5)");
  put_and_flush(*table, 0, 500);
  for (int i = 0; i < 20; ++i) {
    executor_->pause_us(kHourUs);
    EXPECT_OK(table->put(Put("s" + std::to_string(i)).add("f", "q", std::string(100, 'v'))));
  }
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table->major_compact());
  ASSERT_EQ(files_of(*table), 1u);
  const uint64_t before = table->info().families.at(0).files.at(0).cells;
  reasons_.texts.clear();
  pass(16 * kHourUs);
  ASSERT_EQ(files_of(*table), 1u);
  EXPECT_LT(table->info().families.at(0).files.at(0).cells, before - 500);
  ASSERT_GE(reasons_.texts.size(), 1u);
  EXPECT_NE(reasons_.texts.front().find("of the cells have expired"), std::string::npos)
      << reasons_.texts.front();
}

// The clock begins at 22:13 UTC.
TEST_F(IdleStore, AnOffPeakHourIsNotPassedOver) {
  open();
  const auto table = make_table("t",
                                "compaction=exploring(files_min=2, bytes_min=1, ratio=0.01, ratio_offpeak=5, "
                                "offpeak_start=12, offpeak_end=13)");
  put_and_flush(*table, 0, 10);
  put_and_flush(*table, 5, 15);
  pass(12 * kHourUs);
  EXPECT_EQ(files_of(*table), 2u);
  pass(3 * kHourUs);
  EXPECT_EQ(files_of(*table), 1u);
}

TEST_F(IdleStore, OldMarkersLeave) {
  open();
  const auto table = make_table("t", "compaction=leveled(tombstone_age=2d)");
  put_and_flush(*table, 0, 100);
  EXPECT_OK(table->compact());
  for (int i = 0; i < 50; ++i) EXPECT_OK(table->erase(Delete("r" + std::to_string(i))));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->wait_for_background());
  const auto markers = [&] {
    uint64_t count = 0;
    const TableInfo info = table->info();
    for (const StoreFileInfo& file : info.families.at(0).files) count += file.deletes;
    return count;
  };
  EXPECT_EQ(markers(), 50u);
  pass(2 * kDayUs + kHourUs);
  EXPECT_EQ(markers(), 0u);
}

// The executor has one thread for compactions, which takes the jobs in the order of the queue.
TEST_F(IdleStore, DropsComeFirstAndThenTheStoresWithMostRuns) {
  StepExecutor one({.seed = 7, .high = 1, .low = 1}, clock_);
  use(one);
  open({.major_compaction_interval_s = 7 * 86400});
  const auto few = make_table("few", "compaction=none");
  const auto many = make_table("many", "compaction=none");
  const auto old = make_table("old", "compaction=none;ttl_s=604800");
  put_and_flush(*few, 0, 10);
  put_and_flush(*many, 0, 10);
  put_and_flush(*old, 0, 10);
  put_and_flush(*few, 10, 20);
  for (int i = 1; i < 4; ++i) put_and_flush(*many, 10 * i, 10 * i + 10);
  // Nobody looks meanwhile: the next look finds all three.
  clock_.advance_ms(7 * 86'400'000 + 1000);
  pass(kSecondUs);
  EXPECT_EQ(reasons_.texts, (std::vector<std::string>{"old:f all cells have expired",
                                                      "many:f major compaction", "few:f major compaction"}));
  engine_.reset();
}

TEST_F(IdleStore, AStoreInWhichNothingIsDueSleeps) {
  open();
  const auto plain = make_table("plain", "");
  const auto late = make_table("late", "ttl_s=31536000");  // a year
  put_and_flush(*plain, 0, 100);
  put_and_flush(*late, 0, 100);
  pass(120 * kSecondUs);
  const uint64_t before = executor_->steps();
  pass(30 * kDayUs);
  EXPECT_LT(executor_->steps() - before, 200u) << executor_->schedule(50);
  EXPECT_EQ(files_of(*late), 1u);
  pass(340 * kDayUs);
  EXPECT_EQ(files_of(*late), 0u);
}

TEST_F(IdleStore, TheTimerOfAClosedEngineDoesNothing) {
  open();
  auto table = make_table("t", "ttl_s=3600;compaction=none");
  put_and_flush(*table, 0, 10);
  table.reset();
  EXPECT_OK(engine_->close());
  engine_.reset();
  executor_->pause_us(kDayUs);
  open({.automatic_compaction = false});
  table = engine_->open_table("t").value();
  pass(kDayUs);
  EXPECT_EQ(files_of(*table), 1u) << "automatic_compaction is off";
  table.reset();
  EXPECT_OK(engine_->close());
}

// The next memtable takes the blocks of the flushed one. The system gets them back when none was used for two
// seconds. Blocks that a reader kept for longer, or of a table that was dropped, leave, too.
TEST_F(IdleStore, BlocksOfFlushedMemtablesWaitForTheNextOneAndLeave) {
  constexpr uint64_t kKept = kKeepsMemory ? 1 << 20 : 0;  // AddressSanitizer gets all memory back at once
  EngineOptions options;
  options.automatic_compaction = false;
  open(options);
  const auto table = make_table("t", "compression=none");
  const auto spare = [&] { return engine_->status().memtable_spare_bytes; };
  for (int i = 0; i < 3; ++i) put_and_flush(*table, 0, 20'000);  // jobs make some more ready
  const uint64_t kept = spare();
  EXPECT_GE(kept, 2 * kKept);
  EXPECT_EQ(kept == 0, kKept == 0);
  const uint64_t taken = bytes_of_pages();
  put_and_flush(*table, 0, 20'000);
  EXPECT_EQ(spare(), kept);
  EXPECT_EQ(bytes_of_pages(), taken) << "nothing more came from the system";
  for (int seconds = 0; seconds < 10; ++seconds) {
    pass(kSecondUs / 2);
    put_and_flush(*table, 0, 20'000);
    pass(kSecondUs / 2);
  }
  EXPECT_EQ(spare(), kept) << "they are used";
  pass(5 * kSecondUs);
  EXPECT_EQ(spare(), 0u);

  for (int i = 0; i < 20'000; ++i) EXPECT_OK(table->put(Put("r" + std::to_string(i)).add("f", "q", "v")));
  auto scanner = table->scan(Scan()).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_OK(engine_->flush());
  pass(4 * 60 * kSecondUs);
  EXPECT_EQ(spare(), 0u);
  scanner.reset();
  EXPECT_GE(spare(), kKept) << "the reader is gone";
  pass(4 * 60 * kSecondUs);
  EXPECT_EQ(spare(), 0u);
  const uint64_t steps = executor_->steps();
  pass(kDayUs);
  EXPECT_LE(executor_->steps() - steps, 2u) << "nothing wakes up after that";

  for (int i = 0; i < 20'000; ++i) EXPECT_OK(table->put(Put("r" + std::to_string(i)).add("f", "q", "v")));
  EXPECT_OK(engine_->drop_table("t"));
  EXPECT_GE(spare(), kKept);
  pass(5 * kSecondUs);
  EXPECT_EQ(spare(), 0u);
}

}  // namespace
}  // namespace cellar::testing
