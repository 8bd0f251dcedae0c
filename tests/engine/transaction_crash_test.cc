// Goal: after a crash at any operation each transaction is there whole, over both tables, or not at all; what
// was synced is there. Method: one workload with transactions, flushes and conflicts; a crash at each of its
// operations, in every mode.
#include <gtest/gtest.h>

#include "cellar/cellar.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/crash_sweep.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr int kTransactions = 12;
constexpr int kRowsEach = 5;

// The facts that are known when the machine stops.
struct Outcome {
  int begun = -1;    // the newest transaction whose commit was called
  int durable = -1;  // the newest one that was answered with ok, synced
};

EngineOptions options_for(FileSystem& files, ManualClock& clock, StepExecutor& executor) {
  EngineOptions options;
  options.create_if_missing = true;
  options.log_segment_bytes = 1 << 16;
  options.environment = {.files = &files, .clock = &clock, .executor = &executor, .seed = 7};
  return options;
}

std::string row_of(int transaction, int row) {
  return "t" + std::to_string(transaction) + "r" + std::to_string(row);
}

Status run_one(Engine& engine, const std::vector<std::shared_ptr<Table>>& tables, int number) {
  CELLAR_TRY_ASSIGN(const auto transaction, engine.begin({.durability = Durability::kFsyncWal}));
  for (int row = 0; row < kRowsEach; ++row) {
    const auto& table = tables[static_cast<size_t>(row) % tables.size()];
    CELLAR_TRY(
        transaction->put(table, std::move(Put(row_of(number, row)).add("d", "q", std::string(40, 'v')))));
  }
  // Moves a marker from the row of the one before to its own.
  CELLAR_TRY(transaction->erase(tables[0], Delete("at" + std::to_string(number - 1))));
  CELLAR_TRY(transaction->put(tables[0], std::move(Put("at" + std::to_string(number)).add("d", "q", "x"))));
  return transaction->commit();
}

Outcome work(FileSystem& files) {
  Outcome outcome;
  ManualClock clock;
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for(files, clock, executor));
  if (!opened.ok()) return outcome;
  std::vector<std::shared_ptr<Table>> tables;
  for (const char* name : {"a", "b"}) {
    FamilyOptions family;
    family.name = "d";
    auto made = (*opened)->open_or_create_table(name, {.families = {family}});
    if (!made.ok()) return outcome;
    tables.push_back(*made);
  }
  for (int i = 0; i < kTransactions; ++i) {
    clock.advance_ms(5);
    outcome.begun = i;
    if (!run_one(**opened, tables, i).ok()) return outcome;
    outcome.durable = i;
    if (i == 7) static_cast<void>((*opened)->flush());
    executor.settle();
  }
  return outcome;
}

// Complains unless the store holds the transactions up to one that may be the last, each of them whole.
void check(FileSystem& files, const Outcome& outcome, uint64_t& whole) {
  ManualClock clock(1'800'000'000'000);
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for(files, clock, executor));
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  int last = -1;
  const auto a = (*opened)->open_table("a");
  const auto b = (*opened)->open_table("b");
  if (!a.ok() || !b.ok()) {
    ASSERT_EQ(outcome.durable, -1);
    return;
  }
  for (int i = 0; i <= outcome.begun; ++i) {
    int found = 0;
    for (int row = 0; row < kRowsEach; ++row)
      found += (*(row % 2 == 0 ? *a : *b)).exists(Get(row_of(i, row))).value() ? 1 : 0;
    ASSERT_TRUE(found == 0 || found == kRowsEach) << "transaction " << i << " is torn: " << found;
    if (found == 0) continue;
    ASSERT_EQ(last, i - 1) << "one in between is missing";
    last = i;
    ++whole;
  }
  ASSERT_GE(last, outcome.durable);
  std::string markers;
  auto scanner = (*a)->scan(Scan().prefix("at")).value();
  for (const RowView row : *scanner) markers += std::string(row.row()) + " ";
  ASSERT_EQ(markers, last < 0 ? "" : "at" + std::to_string(last) + " ");
}

TEST(TransactionCrash, AllOrNothingAtEachOperation) {
  uint64_t operations = 0;
  {
    CrashFileSystem files;
    ASSERT_EQ(work(files).durable, kTransactions - 1);
    operations = files.operations();
  }
  uint64_t whole = 0;
  const uint64_t crashes = sweep_crashes(
      operations, scaled(60), [](FileSystem& files) { return work(files); },
      [&](FileSystem& image, const Outcome& outcome) { check(image, outcome, whole); });
  count(crashes, "crashes with transactions");
  EXPECT_GT(crashes, 0u);
  EXPECT_GT(whole, 0u);
}

}  // namespace
}  // namespace cellar::testing
