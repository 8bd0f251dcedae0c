// Goal: after a crash at any operation each named snapshot is whole or not there, and a table is as before or
// as after what was being done to it. Method: one workload that snapshots, restores, clones, truncates and
// drops; a crash at each of its operations, in every mode.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "cellar/cellar.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/crash_sweep.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

EngineOptions options_for(FileSystem& files, ManualClock& clock, StepExecutor& executor) {
  EngineOptions options;
  options.log_segment_bytes = 64 << 10;  // a recovery looks at all of a segment
  options.create_if_missing = true;
  options.durability = Durability::kFsyncWal;
  options.environment = {.files = &files, .clock = &clock, .executor = &executor, .seed = 7};
  return options;
}

// Content of each table, and of each table of each snapshot as "snapshot/table".
using World = std::map<std::string, std::string>;

std::string content(Table& table) {
  std::string text;
  auto scanner = table.scan(Scan());
  if (!scanner.ok()) return scanner.status().to_text();
  for (const RowView row : **scanner)
    text += std::string(row.row()) + "=" + std::string(row.cells().front().value_bytes()) + " ";
  return text + ((*scanner)->status().ok() ? "" : (*scanner)->status().to_text());
}

World look(Engine& engine) {
  World world;
  for (const std::string& name : engine.list_tables())
    world[name] = content(*engine.open_table(name).value());
  const auto snapshots = engine.list_snapshots();
  if (!snapshots.ok()) return {{"snapshots", snapshots.status().to_text()}};
  for (const NamedSnapshotInfo& each : *snapshots) {
    const auto opened = engine.open_snapshot(each.name);
    if (!opened.ok()) {
      world[each.name + "/"] = opened.status().to_text();
      continue;
    }
    for (const std::string& table : (*opened)->list_tables())
      world[each.name + "/" + table] = content(*(*opened)->open_table(table).value());
  }
  return world;
}

Status put(Engine& engine, const std::string& table, const std::string& row, const std::string& value) {
  CELLAR_TRY_ASSIGN(const auto found, engine.open_table(table));
  return found->put(std::move(Put(row).add("d", "q", value)));
}

Status create(Engine& engine, const std::string& name) {
  FamilyOptions family;
  family.name = "d";
  return engine.create_table(name, {.families = {family}}).status();
}

using Step = std::function<Status(Engine&)>;

const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      [](Engine& e) { return create(e, "t"); },
      [](Engine& e) { return create(e, "u"); },
      [](Engine& e) { return put(e, "t", "a", "1"); },
      [](Engine& e) { return put(e, "u", "x", "1"); },
      [](Engine& e) { return e.flush(); },
      [](Engine& e) { return put(e, "t", "b", "2"); },
      [](Engine& e) { return e.create_snapshot("s1").status(); },
      [](Engine& e) { return put(e, "t", "a", "3"); },
      [](Engine& e) { return put(e, "u", "y", "3"); },
      [](Engine& e) { return e.create_snapshot("s2", {"t"}).status(); },
      [](Engine& e) { return e.drop_table("u"); },
      [](Engine& e) { return put(e, "t", "c", "4"); },
      [](Engine& e) { return e.restore_snapshot("s1"); },
      [](Engine& e) { return put(e, "t", "d", "5"); },
      [](Engine& e) { return e.clone_snapshot("s2", "t", "v").status(); },
      [](Engine& e) { return e.drop_snapshot("s1"); },
      [](Engine& e) { return put(e, "v", "e", "6"); },
      [](Engine& e) { return e.open_table("t").value()->compact({.major = true}); },
      [](Engine& e) { return e.truncate_table("t"); },
      [](Engine& e) { return put(e, "t", "f", "7"); },
      [](Engine& e) { return e.restore_snapshot("s2"); },
      [](Engine& e) { return e.drop_snapshot("s2"); },
  };
  return all;
}

// How many steps were begun, and how many answered with ok. `after` gets the world after each.
struct Outcome {
  size_t begun = 0;
  size_t done = 0;
};

Outcome work(FileSystem& files, std::vector<World>* after) {
  Outcome outcome;
  ManualClock clock;
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for(files, clock, executor));
  if (!opened.ok()) return outcome;
  if (after != nullptr) after->push_back(look(**opened));
  for (const Step& step : steps()) {
    clock.advance_ms(5);
    ++outcome.begun;
    if (!step(**opened).ok()) return outcome;
    executor.settle();
    ++outcome.done;
    if (after != nullptr) after->push_back(look(**opened));
  }
  return outcome;
}

TEST(NamedSnapshotCrash, EachStepHappensWholeOrNotAtAll) {
  std::vector<World> worlds;
  uint64_t operations = 0;
  {
    CrashFileSystem looked_at;
    ASSERT_EQ(work(looked_at, &worlds).done, steps().size());
    ASSERT_EQ(worlds.back()["t"], "a=3 b=2 ");
    ASSERT_EQ(worlds.back()["v"], "a=3 b=2 e=6 ");
    ASSERT_EQ(worlds.back()["u"], "x=1 ");
    CrashFileSystem files;
    ASSERT_EQ(work(files, nullptr).done, steps().size());
    operations = files.operations();
  }
  uint64_t before = 0, later = 0;
  const auto check = [&](FileSystem& image, const Outcome& outcome) {
    SCOPED_TRACE("step " + std::to_string(outcome.begun));
    ManualClock clock(1'800'000'000'000);
    StepExecutor executor(1, clock);
    auto opened = Engine::open("store", options_for(image, clock, executor));
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    const World found = look(**opened);
    const bool is_before = found == worlds[outcome.done];
    ++(is_before ? before : later);
    if (!is_before) {
      ASSERT_EQ(found, worlds[outcome.begun]);
    }
  };
  const uint64_t crashes = sweep_crashes(
      operations, scaled(120), [](FileSystem& files) { return work(files, nullptr); }, check);
  count(crashes, "crashes with named snapshots");
  EXPECT_GT(before, 0u);
  EXPECT_GT(later, 0u);
}

}  // namespace
}  // namespace cellar::testing
