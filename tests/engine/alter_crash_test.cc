// Goal: after a crash at any operation a table is as before or as after each change of its families and
// options, nothing in between. Method: one workload that adds, changes and removes families among writes; a
// crash at each of its operations, in every mode.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/step_sweep.h"

namespace cellar::testing {
namespace {

FamilyOptions family(const std::string& name, uint32_t versions = 1) {
  FamilyOptions options;
  options.name = name;
  options.max_versions = versions;
  return options;
}

// Returns the options and cells of the table; an empty text if the store has no such table.
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

const std::vector<EngineStep>& steps() {
  static const std::vector<EngineStep> all = {
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
      [](Engine& e) { return e.alter_table("t", {.default_durability = true, .memtable_bytes = 4096}); },
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

TEST(AlterCrash, EachChangeHappensWholeOrNotAtAll) {
  StepSweep<std::string> sweep(steps(), look);
  ASSERT_EQ(sweep.last_world(),
            "read_only=true,compaction_enabled=false,memtable_bytes=4096|c() r/c:q/5/Put=5");
  count(sweep.run(scaled(120)), "crashes while a table was altered");
}

}  // namespace
}  // namespace cellar::testing
