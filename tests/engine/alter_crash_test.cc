// Goal: after a crash at any operation a table is as before or as after each change of its families and
// options, nothing in between. Method: one workload that adds, changes and removes families among writes; a
// crash at each of its operations, in every mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

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

FamilyOptions family(const std::string& name, uint32_t versions = 1) {
  FamilyOptions options;
  options.name = name;
  options.max_versions = versions;
  return options;
}

// Options and cells of the table; empty: there is none.
std::string look(Engine& engine) {
  const auto table = engine.open_table("t");
  if (!table.ok()) return {};
  const TableOptions options = (*table)->info().options;
  std::string text = to_text(options) + "|";
  for (const FamilyOptions& each : options.families) text += each.name + "(" + to_text(each) + ")";
  auto scanner = (*table)->scan(Scan().versions(9));
  if (!scanner.ok()) return scanner.status().to_text();
  for (const RowView row : **scanner)
    for (const std::string& cell : cell_texts(row)) text += " " + cell;
  return text + ((*scanner)->status().ok() ? "" : (*scanner)->status().to_text());
}

Status put(Engine& engine, const std::vector<std::string>& families, int number) {
  CELLAR_TRY_ASSIGN(const auto table, engine.open_table("t"));
  Put put("r");
  for (const std::string& each : families) put.add_at(each, "q", number, std::to_string(number));
  return table->put(put);
}

using Step = std::function<Status(Engine&)>;

const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      [](Engine& e) {
        return e.create_table("t", {.families = {family("a"), family("b")}}).status();
      },
      [](Engine& e) {
        return put(e, {"a", "b"}, 1);
      },
      [](Engine& e) {
        return e.alter_table(
            "t", {.set_families = {family("a", 5), family("c"), family("d")}, .compaction_enabled = false});
      },
      [](Engine& e) {
        return put(e, {"a", "b", "c", "d"}, 2);
      },
      [](Engine& e) { return e.flush(); },
      [](Engine& e) {
        return put(e, {"a", "c"}, 3);
      },
      [](Engine& e) {
        return e.alter_table("t", {.set_families = {family("a", 3), family("e")},
                                   .remove_families = {"b", "c"},
                                   .durability = Durability::kFsyncWal});
      },
      [](Engine& e) {
        return put(e, {"a", "e"}, 4);
      },
      [](Engine& e) { return e.alter_table("t", {.set_families = {family("c")}, .remove_families = {"d"}}); },
      [](Engine& e) {
        return e.alter_table("t", {.durability = std::optional<Durability>(), .memtable_bytes = 4096});
      },
      [](Engine& e) {
        return put(e, {"a", "c"}, 5);
      },
      [](Engine& e) { return e.flush(); },
      [](Engine& e) {
        return e.alter_table("t", {.remove_families = {"a", "e"}, .read_only = true});
      },
  };
  return all;
}

struct Outcome {
  size_t begun = 0;
  size_t done = 0;
};

// `after` gets the table as it is after each step.
Outcome work(FileSystem& files, std::vector<std::string>* after) {
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

TEST(AlterCrash, EachChangeHappensWholeOrNotAtAll) {
  std::vector<std::string> tables;
  uint64_t operations = 0;
  {
    CrashFileSystem looked_at;
    ASSERT_EQ(work(looked_at, &tables).done, steps().size());
    ASSERT_EQ(tables.back(), "read_only=true,compaction_enabled=false,memtable_bytes=4096|c() r/c:q/5/Put=5");
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
    const std::string found = look(**opened);
    const bool is_before = found == tables[outcome.done];
    ++(is_before ? before : later);
    if (!is_before) {
      ASSERT_EQ(found, tables[outcome.begun]);
    }
  };
  const uint64_t places = std::max<uint64_t>(60, scaled(120));  // fewer meet no end of a step
  const uint64_t crashes = sweep_crashes(
      operations, places, [](FileSystem& files) { return work(files, nullptr); }, check);
  count(crashes, "crashes while a table was altered");
  EXPECT_GT(before, 0u);
  EXPECT_GT(later, 0u);
}

}  // namespace
}  // namespace cellar::testing
