// Goal: after a crash at any operation, each named snapshot is whole or does not exist. A table is as before
// or as after the operation under way. Method: one workload that snapshots, restores, clones, truncates and
// drops. A crash at each of its operations, in every mode.
#include <gtest/gtest.h>

#include <map>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/step_sweep.h"

namespace cellar::testing {
namespace {

// Content of each table, and of each table of each snapshot as "snapshot/table".
using Contents = std::map<std::string, std::string>;

std::string content(Table& table) {
  std::string text;
  auto scanner = table.scan(Scan());
  if (!scanner.ok()) return scanner.status().to_text();
  for (const RowView row : **scanner)
    text += std::string(row.row()) + "=" + std::string(row.cells().front().value_bytes()) + " ";
  return text + ((*scanner)->status().ok() ? "" : (*scanner)->status().to_text());
}

Contents look(Engine& engine) {
  Contents contents;
  for (const std::string& name : engine.list_tables())
    contents[name] = content(*engine.open_table(name).value());
  const auto snapshots = engine.named_snapshots().list();
  if (!snapshots.ok()) return {{"snapshots", snapshots.status().to_text()}};
  for (const CheckpointInfo& each : *snapshots) {
    const auto opened = engine.named_snapshots().open(each.name);
    if (!opened.ok()) {
      contents[each.name + "/"] = opened.status().to_text();
      continue;
    }
    for (const std::string& table : (*opened)->list_tables())
      contents[each.name + "/" + table] = content(*(*opened)->open_table(table).value());
  }
  return contents;
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

const std::vector<EngineStep>& steps() {
  static const std::vector<EngineStep> all = {
      [](Engine& e) { return create(e, "t"); },
      [](Engine& e) { return create(e, "u"); },
      [](Engine& e) { return put(e, "t", "a", "1"); },
      [](Engine& e) { return put(e, "u", "x", "1"); },
      [](Engine& e) { return e.flush(); },
      [](Engine& e) { return put(e, "t", "b", "2"); },
      [](Engine& e) { return e.named_snapshots().create("s1").status(); },
      [](Engine& e) { return put(e, "t", "a", "3"); },
      [](Engine& e) { return put(e, "u", "y", "3"); },
      [](Engine& e) { return e.named_snapshots().create("s2", {"t"}).status(); },
      [](Engine& e) { return e.drop_table("u"); },
      [](Engine& e) { return put(e, "t", "c", "4"); },
      [](Engine& e) { return e.named_snapshots().restore("s1"); },
      [](Engine& e) { return put(e, "t", "d", "5"); },
      [](Engine& e) { return e.named_snapshots().clone("s2", "t", "v").status(); },
      [](Engine& e) { return e.named_snapshots().drop("s1"); },
      [](Engine& e) { return put(e, "v", "e", "6"); },
      [](Engine& e) { return e.open_table("t").value()->major_compact(); },
      [](Engine& e) { return e.truncate_table("t"); },
      [](Engine& e) { return put(e, "t", "f", "7"); },
      [](Engine& e) { return e.named_snapshots().restore("s2"); },
      [](Engine& e) { return e.named_snapshots().drop("s2"); },
  };
  return all;
}

TEST(NamedSnapshotCrash, EachStepHappensWholeOrNotAtAll) {
  StepSweep<Contents> sweep(steps(), look);
  Contents last = sweep.last_world();
  ASSERT_EQ(last["t"], "a=3 b=2 ");
  ASSERT_EQ(last["v"], "a=3 b=2 e=6 ");
  ASSERT_EQ(last["u"], "x=1 ");
  count(sweep.run(scaled(120)), "crashes with named snapshots");
}

}  // namespace
}  // namespace cellar::testing
