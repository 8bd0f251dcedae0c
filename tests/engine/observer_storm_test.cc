// Goal: an inverse table and counts that an observer keeps agree exactly with their source table. This holds
// under any mix of writes from several threads, during flushes and compactions, and after any crash. Method:
// few rows and values, so that writes meet. In the end, and after each crash, everything is computed anew and
// compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include "base/random.h"
#include "tests/engine/observer_fixture.h"
#include "tests/support/crash_sweep.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// One write of any kind to d:q of some rows.
Status write_some(Engine& engine, const std::shared_ptr<Table>& table, Random& random) {
  const std::string row = numbered_row(random.below(8));
  const std::string value = one_of_five_values(random);
  const Put put = Put(row).add("d", "q", value);
  switch (random.below(9)) {
    case 0:
      return table->erase(Delete(row));
    case 1:
      return table->erase(Delete(row).latest_version("d", "q"));
    case 2:
      return table->append(Append(row).add("d", "q", "+").add("d", "other", "x")).status();
    case 3:
      return table->mutate(RowMutations(row).add(Delete(row).column("d", "p")).add(put)).status();
    case 4:
      return table->check_and_mutate(CheckAndMutate(row).if_not_exists("d", "q").then(put)).status();
    case 5:
      return table->put(Put(row).add_at("d", "q", 5, value));
    case 6:
      return commit_two_rows(engine, table, random);
    case 7:
      return write_batch_of_rows(engine, table, random);
    default:
      return table->put(put);
  }
}

class ObserverStorm : public EngineFixture {
 protected:
  // In the order of timestamps, a put may be hidden by a marker of its millisecond. It may show once a
  // compaction that ran meanwhile has dropped the marker: a change without a write. Therefore the observed
  // family goes by sequence, and keeps its versions, where compactions run.
  void open_observed(MarkerOrder order, int64_t row_lock_wait_ms = 30'000) {
    EngineOptions options;
    options.create_if_missing = true;
    options.automatic_compaction = order == MarkerOrder::kSequence;
    options.memtable_bytes = options.automatic_compaction ? 64 << 10 : 64 << 20;
    options.log_segment_bytes = 256 << 10;
    options.row_lock_wait_ms = row_lock_wait_ms;
    options.environment.files = files_.get();
    auto opened = Engine::open("store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    engine_ = std::move(opened).value();
    FamilyOptions observed = family("d", options.automatic_compaction ? 1'000'000 : 3);
    observed.delete_order = order;
    table_ = make_table("t", {observed});
    EXPECT_OK(InverseObserver::make_tables(*engine_));
    EXPECT_OK(engine_->add_observer("t", "inverse", std::make_shared<InverseObserver>()));
  }

  // Four threads write so much each, while a fifth calls the given function, at least once.
  void storm(uint64_t writes, const std::function<void()>& beside) {
    std::atomic<int> running{4};
    std::vector<std::thread> threads;
    for (uint64_t seed = 1; seed <= 4; ++seed)
      threads.emplace_back([&, seed] {
        Random random(seed);
        for (uint64_t i = 0; i < writes; ++i) EXPECT_OK(write_some(*engine_, table_, random));
        --running;
      });
    do {
      beside();
    } while (running.load() != 0);
    for (std::thread& thread : threads) thread.join();
    count(4 * writes, "observed writes of four threads");
  }

  std::shared_ptr<Table> table_;
};

TEST_F(ObserverStorm, InverseTableAndCountsAgreeExactly) {
  open_observed(MarkerOrder::kTimestamp);
  storm(scaled(4000), [] { std::this_thread::yield(); });
  InverseObserver::expect_agreement(*engine_, *table_);
}

TEST_F(ObserverStorm, InverseTableAndCountsAgreeBesideFlushesAndCompactions) {
  open_observed(MarkerOrder::kSequence);
  uint64_t rounds = 0;
  storm(scaled(3000), [&] {
    EXPECT_OK(engine_->flush());
    for (const char* name : {"t", "by_value", "counts"}) {
      const auto table = engine_->open_table(name).value();
      EXPECT_OK(rounds % 2 == 0 ? table->major_compact() : table->compact());
    }
    ++rounds;
  });
  EXPECT_GT(rounds, 0U);
  InverseObserver::expect_agreement(*engine_, *table_);
}

// Other writers of rows that observers count in lose nothing, and nothing of theirs is lost.
TEST_F(ObserverStorm, CountersTakePartInWhatOthersCount) {
  open_observed(MarkerOrder::kTimestamp);
  const auto counts = engine_->open_table("counts").value();
  const auto observer = std::make_shared<CallingObserver>([&](const RowView&, ObserverContext& context) {
    return context.increment(counts, "all", "n", "writes", 1);
  });
  EXPECT_OK(engine_->add_observer("t", "counts all", observer));
  const uint64_t each = scaled(2000);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (uint64_t k = 0; k < each; ++k) {
        if (i % 2 == 0) {
          EXPECT_OK(table_->put(Put(numbered_row(i * 1000 + k % 100)).add("d", "p", "x")));
        } else {
          EXPECT_OK(counts->increment(Increment("all").add("n", "writes", 1)).status());
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts->get(Get("all")).value().counter("n", "writes"), static_cast<int64_t>(4 * each));
}

// A row that is added to is locked: not while somebody else has it, and never while others wait for what we
// hold.
TEST_F(ObserverStorm, WaitsForRowsThatAreAddedTo) {
  open_observed(MarkerOrder::kTimestamp, 20);
  const auto held = make_table("held", {family("d")});
  std::atomic<bool> holds{false}, let_go{false};
  const auto hold = std::make_shared<CallingObserver>([&](const RowView&, ObserverContext&) {
    holds.store(true);
    while (!let_go.load()) std::this_thread::yield();
    return Status();
  });
  EXPECT_OK(engine_->add_observer("held", "hold", hold));
  int calls = 0;
  const auto adds = std::make_shared<CallingObserver>([&](const RowView&, ObserverContext& context) {
    ++calls;
    return context.put(held, Put("taken").add("d", "q", "v"));
  });
  EXPECT_OK(engine_->add_observer("t", "adds", adds));
  std::thread holder([&] { EXPECT_OK(held->put(Put("taken").add("d", "q", "own"))); });
  while (!holds.load()) std::this_thread::yield();
  const Status status = table_->put(Put("r1").add("d", "q", "v"));
  EXPECT_TRUE(status.is(Code::kBusy)) << status.to_text();
  EXPECT_NE(status.message().find("row taken"), std::string_view::npos) << status.to_text();
  EXPECT_EQ(calls, 1);
  let_go.store(true);
  holder.join();
  EXPECT_OK(table_->put(Put("r1").add("d", "q", "v")));
  EXPECT_EQ(calls, 2);
  InverseObserver::expect_agreement(*engine_, *table_);
}

// ---- crashes ----

constexpr int kWrites = 40;

// The number of writes that were acknowledged.
int work(FileSystem& files) {
  ManualClock clock;
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for_crashes(files, clock, executor));
  if (!opened.ok()) return 0;
  Engine& engine = **opened;
  FamilyOptions family;
  family.name = "d";
  const auto table = engine.open_or_create_table("t", {.families = {family}});
  if (!table.ok() || !InverseObserver::make_tables(engine).ok()) return 0;
  EXPECT_OK(engine.add_observer("t", "inverse", std::make_shared<InverseObserver>()));
  Random random(3);
  int done = 0;
  for (; done < kWrites; ++done) {
    if (done % 2 == 0) clock.advance_ms(1);
    if (!write_some(engine, *table, random).ok()) return done;
    if (done == 15) static_cast<void>((*table)->flush());
    if (done == 25) static_cast<void>(engine.open_table("by_value").value()->flush());
    if (done == 30) static_cast<void>(engine.flush());
    executor.settle();
  }
  return done;
}

// The rows found; complains unless the tables agree.
size_t check(FileSystem& files) {
  ManualClock clock(1'800'000'000'000);
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for_crashes(files, clock, executor));
  EXPECT_TRUE(opened.ok()) << opened.status().to_text();
  if (!opened.ok()) return 0;
  const auto table = (*opened)->open_table("t");
  if (!table.ok() || !(*opened)->open_table("counts").ok()) return 0;  // nothing was written yet
  return InverseObserver::expect_agreement(**opened, **table);
}

TEST(ObserverCrash, TablesAgreeAfterACrashAtEachOperation) {
  uint64_t operations = 0;
  {
    CrashFileSystem files;
    ASSERT_EQ(work(files), kWrites);
    operations = files.operations();
  }
  uint64_t rows = 0;
  const uint64_t crashes = sweep_crashes(
      operations, scaled(80), [](FileSystem& files) { return work(files); },
      [&](FileSystem& image, int) { rows += check(image); });
  count(crashes, "crashes with observers");
  EXPECT_GT(rows, 0U);
}

}  // namespace
}  // namespace cellar::testing
