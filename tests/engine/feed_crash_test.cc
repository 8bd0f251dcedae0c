// Goal: after a crash at any operation, a feed gives each write after the acknowledged ones exactly once and
// in order. It gives no write that the store has lost, and goes on with later writes. The same holds after
// the next crash. Method: one workload with two lives of the store, flushes, acknowledgements and reads. A
// crash at each of its operations, in every mode. The writes of the feed are compared with those of the
// store.
#include <gtest/gtest.h>

#include <functional>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/feed_support.h"
#include "tests/support/crash_sweep.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr int kWrites = 26;

// The facts that are known when the machine stops; writes are numbered from 1.
struct FeedOutcome {
  bool made = false;     // the feed is there, durably
  int begun = 0;         // the newest write that was called
  int durable = 0;       // the newest that was acknowledged, synced
  int acknowledged = 0;  // the newest that the consumer was durably done with
  int consumed = 0;      // the newest that it may be durably done with
};

EngineOptions options_for(FileSystem& files, ManualClock& clock, StepExecutor& executor) {
  EngineOptions options;
  options.create_if_missing = true;
  options.log_segment_bytes = 1 << 16;
  options.automatic_compaction = false;
  options.environment = {.files = &files, .clock = &clock, .executor = &executor, .seed = 7};
  return options;
}

std::string feed_row(int write) { return "r" + std::to_string(1000 + write); }
int write_of(std::string_view row) { return std::stoi(std::string(row.substr(1))) - 1000; }

Status put_one(Table& table, int number, Durability durability) {
  const std::string value(number % 3 == 0 ? 30'000 : 50, 'v');
  return table.put(Put(feed_row(number)).add("d", "q", value), {.durability = durability});
}

// Reads up to `most` writes; their numbers must continue after `from` without a gap.
Status consume(FeedReader& reader, int from, int most, int& read_up_to) {
  read_up_to = from;
  while (read_up_to < from + most) {
    CELLAR_TRY_ASSIGN(const FeedEntry* entry, reader.next());
    if (entry == nullptr) return {};
    EXPECT_EQ(entry->cells.size(), 1u);
    EXPECT_EQ(write_of(entry->cells.at(0).second.row()), read_up_to + 1);
    ++read_up_to;
  }
  return {};
}

// Reads up to `most` more and is done with it.
Status go_on_reading(Engine& engine, int most, FeedOutcome& outcome) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<FeedReader> reader, engine.feeds().read("f"));
  int read_up_to = 0;
  CELLAR_TRY(consume(*reader, outcome.acknowledged, most, read_up_to));
  outcome.consumed = read_up_to;
  CELLAR_TRY(reader->acknowledge(reader->position()));
  outcome.acknowledged = read_up_to;
  outcome.durable = std::max(outcome.durable, read_up_to);
  return {};
}

// One life of the store, which ends by a close, or else by `kill`. False when the machine stopped.
bool live(FileSystem& files, int first, int last, const std::function<void()>& kill, FeedOutcome& outcome) {
  ManualClock clock(1'700'000'000'000 + first);
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for(files, clock, executor));
  if (!opened.ok()) return false;
  FamilyOptions family;
  family.name = "d";
  const auto made = (*opened)->open_or_create_table("t", {.families = {family}});
  if (!made.ok()) return false;
  if (!outcome.made && !(*opened)->feeds().create("f").ok()) return false;
  outcome.made = true;
  for (int i = first; i <= last; ++i) {
    clock.advance_ms(5);
    outcome.begun = i;
    const bool sync = i % 4 == 0;
    if (!put_one(**made, i, sync ? Durability::kFsyncWal : Durability::kSyncWal).ok()) return false;
    if (sync) outcome.durable = i;
    if (i % 5 == 0 && !(*opened)->flush().ok()) return false;
    if (i % 7 == 0 && !go_on_reading(**opened, i == 14 ? 2 : 100, outcome).ok()) return false;
    executor.settle();
  }
  if (kill) {
    kill();
    return true;
  }
  if (!(*opened)->close().ok()) return false;
  outcome.durable = last;
  return true;
}

// Two lives, the first one ends by a close, the second one by a kill.
FeedOutcome work(FileSystem& medium) {
  FaultFileSystem files(medium);
  const auto kill = [&] { files.inject({.on = kAllOperations, .sticky = true}); };
  FeedOutcome outcome;
  if (live(files, 1, kWrites / 2, nullptr, outcome)) live(files, kWrites / 2 + 1, kWrites, kill, outcome);
  return outcome;
}

// The writes that the table holds: 1 to some number without a gap.
int writes_held(Table& table) {
  int held = 0;
  auto scanner = table.scan(Scan()).value();
  for (const RowView row : *scanner) EXPECT_EQ(write_of(row.row()), ++held);
  return held;
}

// Opens what a crash left, compares, writes on, and reads that too. The number of the last write there.
void check(FileSystem& files, const FeedOutcome& outcome, int least, uint64_t& given) {
  ManualClock clock(1'800'000'000'000);
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for(files, clock, executor));
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  const auto table = (*opened)->open_table("t");
  if (!outcome.made) return;
  ASSERT_TRUE(table.ok());
  const int held = writes_held(**table);
  ASSERT_GE(held, least);
  ASSERT_LE(held, outcome.begun);
  auto reader = (*opened)->feeds().read("f");
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  // An acknowledgement that was under way may be there or not.
  const FeedInfo info = (*opened)->feeds().list().at(0);
  ASSERT_FALSE(info.lost);
  auto first = (*reader)->next();
  ASSERT_TRUE(first.ok()) << first.status().to_text();
  int behind = *first == nullptr ? held : write_of((*first)->cells.at(0).second.row()) - 1;
  ASSERT_TRUE(behind == outcome.acknowledged || behind == outcome.consumed)
      << behind << ", acknowledged " << outcome.acknowledged << " or " << outcome.consumed;
  reader = (*opened)->feeds().read("f");
  int read_up_to = 0;
  Status status = consume(**reader, behind, 1000, read_up_to);
  ASSERT_TRUE(status.ok()) << status.to_text();
  ASSERT_EQ(read_up_to, held);
  given += static_cast<uint64_t>(held - behind);
  for (int i = held + 1; i <= held + 3; ++i) ASSERT_TRUE(put_one(**table, i, Durability::kFsyncWal).ok());
  status = consume(**reader, held, 1000, read_up_to);
  ASSERT_TRUE(status.ok()) << status.to_text();
  ASSERT_EQ(read_up_to, held + 3);
  reader = (*opened)->feeds().read("f");  // from the acknowledged place, over all lives
  status = consume(**reader, behind, 1000, read_up_to);
  ASSERT_TRUE(status.ok()) << status.to_text();
  ASSERT_EQ(read_up_to, held + 3);
}

TEST(FeedCrash, EachWriteOnceAfterACrashAtEachOperation) {
  uint64_t operations = 0;
  {
    CrashFileSystem files;
    ASSERT_EQ(work(files).begun, kWrites);
    operations = files.operations();
  }
  uint64_t given = 0;
  const uint64_t crashes = sweep_crashes(
      operations, scaled(80), [](FileSystem& files) { return work(files); },
      [&](FileSystem& image, const FeedOutcome& outcome) { check(image, outcome, outcome.durable, given); });
  count(crashes, "crashes with feeds");
  EXPECT_GT(given, 0u);
}

// The process was killed; the machine stops while the store recovers or goes on. Bytes that only the page
// cache held must be durable once the store is open. This also holds for the log that is kept for the feed.
TEST(FeedCrash, AgainInTheRecovery) {
  uint64_t crashes = 0, given = 0;
  for (uint64_t at = 1;; ++at) {
    CrashFileSystem files;
    FeedOutcome outcome = work(files);
    ASSERT_EQ(outcome.begun, kWrites);
    ASSERT_LT(outcome.durable, kWrites);
    files.stop_at(files.operations() + at, at * 53 % 90);
    {
      ManualClock clock(1'750'000'000'000);
      StepExecutor executor(1, clock);
      auto opened = Engine::open("store", options_for(files, clock, executor));
      if (opened.ok()) {
        outcome.durable = outcome.begun;
        static_cast<void>(go_on_reading(**opened, 3, outcome).ok());
      }
    }
    for (const CrashMode mode :
         {CrashMode::kLoseUnsynced, CrashMode::kProcessKilled, CrashMode::kRandomUnsynced}) {
      SCOPED_TRACE("operation " + std::to_string(at) + " of the recovery, " +
                   std::string(crash_mode_name(mode)));
      const auto image = files.crash_image({.mode = mode, .seed = at});
      const bool killed = mode == CrashMode::kProcessKilled;
      check(*image, outcome, killed ? outcome.begun : outcome.durable, given);
      ++crashes;
      if (HasFailure()) return;
    }
    if (!files.crashed()) break;
  }
  count(crashes, "crashes with feeds");
  EXPECT_GT(given, 0u);
}

// Writes that no log has are lost with the process, and their sequences are not to be given out again.
TEST(FeedCrash, PassesOverNoWriteForTheSakeOfALostOne) {
  for (const bool acknowledges : {false, true}) {
    CrashFileSystem medium;
    ManualClock clock;
    {
      FaultFileSystem files(medium);
      StepExecutor executor(1, clock);
      auto engine = Engine::open("store", options_for(files, clock, executor)).value();
      FamilyOptions family;
      family.name = "d";
      const auto table = engine->create_table("t", {.families = {family}}).value();
      if (acknowledges) EXPECT_OK(engine->feeds().create("f"));
      EXPECT_OK(put_one(*table, 1, Durability::kFsyncWal));
      for (int i = 2; i < 5; ++i) EXPECT_OK(put_one(*table, i, Durability::kSkipWal));
      if (acknowledges) {
        const auto reader = engine->feeds().read("f").value();
        int read_up_to = 0;
        EXPECT_OK(consume(*reader, 0, 10, read_up_to));
        EXPECT_EQ(read_up_to, 1);
        EXPECT_OK(reader->acknowledge(reader->position()));
      } else {
        EXPECT_OK(engine->feeds().create("f"));
      }
      files.inject({.on = kAllOperations, .sticky = true});
    }
    StepExecutor executor(1, clock);
    const auto engine = Engine::open("store", options_for(medium, clock, executor)).value();
    const auto table = engine->open_table("t").value();
    EXPECT_EQ(writes_held(*table), 1);
    EXPECT_OK(put_one(*table, 2, Durability::kSyncWal));
    const auto reader = engine->feeds().read("f").value();
    int read_up_to = 0;
    EXPECT_OK(consume(*reader, 1, 10, read_up_to));
    EXPECT_EQ(read_up_to, 2);
  }
}

// FollowedStore: a store with a feed and one durable write, on a FaultFileSystem.
struct FollowedStore {
  FollowedStore() {
    open();
    FamilyOptions family;
    family.name = "d";
    table = engine->create_table("t", {.families = {family}}).value();
    EXPECT_OK(engine->feeds().create("f"));
    reader = engine->feeds().read("f").value();
    EXPECT_OK(put_one(*table, 1, Durability::kFsyncWal));
  }
  void open() { engine = Engine::open("store", options_for(files, clock, executor)).value(); }

  CrashFileSystem medium;
  FaultFileSystem files{medium};
  ManualClock clock;
  StepExecutor executor{1, clock};
  std::unique_ptr<Engine> engine;
  std::shared_ptr<Table> table;
  std::unique_ptr<FeedReader> reader;
};

// The log has it, but whether it survives is not known: nobody sees it before the store is opened again.
TEST(FeedCrash, GivesNothingThatIsNotVisible) {
  FollowedStore store;
  auto& [medium, files, clock, executor, engine, table, reader] = store;
  int read_up_to = 0;
  EXPECT_OK(consume(*reader, 0, 10, read_up_to));
  files.fail(FileOperation::kSync, "wal/*", 1);
  EXPECT_EQ(put_one(*table, 2, Durability::kFsyncWal).code(), Code::kDurabilityUnknown);
  EXPECT_OK(consume(*reader, 1, 10, read_up_to));
  EXPECT_EQ(read_up_to, 1);
  EXPECT_EQ(writes_held(*table), 1);
}

// After resume() the failed write is gone, although its record lies in the log that is kept for the feed. A
// reader may have found the record already, or open the feed later, also in another process.
TEST(FeedCrash, GivesNoWriteThatFailedBeforeTheStoreResumed) {
  for (const bool waits : {false, true}) {
    FollowedStore store;
    auto& [medium, files, clock, executor, engine, table, reader] = store;
    EXPECT_OK(put_one(*table, 2, Durability::kFsyncWal));
    int read_up_to = 0;
    EXPECT_OK(consume(*reader, 0, 1, read_up_to));
    EXPECT_EQ(read_up_to, 1);
    files.fail(FileOperation::kSync, "wal/*", 1);
    EXPECT_EQ(put_one(*table, 77, Durability::kFsyncWal).code(), Code::kDurabilityUnknown);
    if (waits) EXPECT_OK(consume(*reader, 1, 10, read_up_to));
    EXPECT_OK(engine->resume());
    for (int i = 3; i <= 5; ++i) EXPECT_OK(put_one(*table, i, Durability::kFsyncWal));
    EXPECT_OK(consume(*reader, waits ? 2 : 1, 10, read_up_to));
    EXPECT_EQ(read_up_to, 5) << "each write in turn, and not the failed one";
    EXPECT_EQ(writes_held(*table), 5);
    for (int life = 0; life < 2; ++life) {
      reader = engine->feeds().read("f").value();
      EXPECT_OK(consume(*reader, 0, 10, read_up_to));
      EXPECT_EQ(read_up_to, 5);
      if (life == 1) break;
      reader.reset();
      table.reset();
      engine.reset();
      store.open();
    }
    EXPECT_OK(engine->close());
  }
}

// Lets others go on between a flush and what follows from it.
struct YieldingListener final : EventListener {
  explicit YieldingListener(StepExecutor& executor) : executor_(executor) {}
  void on_flush_end(const FlushInfo&) override {
    for (int i = 0; i < 3; ++i) executor_.checkpoint();
  }

 private:
  StepExecutor& executor_;
};

// A segment may end between the sync of a flush and the moment when it is kept for feeds. That is rare: of
// these seeds, 2652 meets it.
TEST(FeedCrash, BesideAWriter) {
  uint64_t given = 0;
  for (uint64_t seed = 2501; seed <= 2500 + scaled(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    CrashFileSystem files;
    FeedOutcome outcome;
    ManualClock clock;
    {
      StepExecutor executor(seed, clock);
      YieldingListener listener(executor);
      EngineOptions options = options_for(files, clock, executor);
      options.environment.events = &listener;
      auto engine = Engine::open("store", options).value();
      FamilyOptions family, other;
      family.name = "d";
      other.name = "e";
      const auto table = engine->create_table("t", {.families = {family, other}}).value();
      EXPECT_OK(engine->feeds().create("f"));
      outcome.made = true;
      files.stop_at(files.operations() + 20 + seed * 7 % 60);
      executor.run_beside("writer", [&] {
        for (int i = 1; i <= 20 && !files.crashed(); ++i) {
          outcome.begun = i;
          const Put both = Put(feed_row(i)).add("d", "q", std::string(25'000, 'v')).add("e", "q", "v");
          if (!table->put(both).ok()) return;
          executor.checkpoint();
        }
      });
      for (int i = 0; i < 6 && !files.crashed(); ++i) {
        executor.checkpoint();
        static_cast<void>(engine->flush().ok());
      }
      executor.join_beside();
      if (!files.crashed()) files.crash();
    }
    const auto image = files.image(CrashMode::kLoseUnsynced, seed);
    StepExecutor executor(1, clock);
    const auto engine = Engine::open("store", options_for(*image, clock, executor));
    ASSERT_TRUE(engine.ok()) << engine.status().to_text();
    int held = 0;
    {
      auto scanner = (*engine)->open_table("t").value()->scan(Scan()).value();
      for (const RowView row : *scanner) EXPECT_EQ(write_of(row.row()), ++held);
    }
    const auto reader = (*engine)->feeds().read("f").value();
    int read = 0;
    for (;; ++read, ++given) {
      const auto entry = reader->next();
      ASSERT_TRUE(entry.ok()) << entry.status().to_text();
      if (*entry == nullptr) break;
      ASSERT_EQ(write_of((*entry)->cells.at(0).second.row()), read + 1);
    }
    ASSERT_EQ(read, held);
  }
  EXPECT_GT(given, 0u);
}

}  // namespace
}  // namespace cellar::testing
