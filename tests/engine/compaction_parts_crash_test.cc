// Goal: after a crash at any operation of a compaction in parts the store has all its inputs or all its
// outputs. Method: a workload with compactions in parts; a crash at each of its operations, in every mode.
// The cells and the shape of the files must be as before or as after the step.
#include <fmt/format.h>

#include "base/hash.h"
#include "tests/engine/compaction_parts_support.h"
#include "tests/engine/step_sweep.h"

namespace cellar::testing {
namespace {

// Returns the rows of each file in levels, and a hash of all cells, markers included. Flushes are left out: a
// recovery may write some.
std::string look_at_parts(Engine& engine) {
  const auto table = engine.open_table("t");
  if (!table.ok()) return {};
  std::string text;
  const TableInfo info = (*table)->info();
  for (const StoreFileInfo& file : info.families.at(0).files)
    if (file.level > 0)
      text +=
          fmt::format("level {} {}..{} {} cells, ", file.level, file.first_row, file.last_row, file.cells);
  auto scanner = (*table)->scan(Scan().versions(9).raw(true));
  if (!scanner.ok()) return scanner.status().to_text();
  uint64_t hash = 0;
  for (const RowView row : **scanner)
    for (const std::string& cell : cell_texts(row)) hash = hash64(cell) + 31 * hash;
  if (!(*scanner)->status().ok()) return (*scanner)->status().to_text();
  return text + fmt::format("all cells {:016x}", hash);
}

Status write_and_flush(Engine& engine, uint64_t first, uint64_t count, const std::string& value) {
  CELLAR_TRY_ASSIGN(const auto table, engine.open_table("t"));
  Batch batch;
  for (uint64_t i = first; i < first + count; ++i) {
    if (i % 7 == 0)
      batch.erase(table, Delete(part_row(i)));
    else
      batch.put(table, Put(part_row(i)).add("f", "q", value));
  }
  CELLAR_TRY(engine.write(batch));
  return engine.flush();
}

const std::vector<EngineStep>& steps_in_parts() {
  static const std::vector<EngineStep> all = {
      [](Engine& e) {
        FamilyOptions f;
        f.name = "f";
        f.compaction = "leveled(fanout=3, base_bytes=1m, file_bytes=1k, runs_min=2)";
        f.block_bytes = 1024;
        f.compression = "none";
        return e.create_table("t", {.families = {f}}).status();
      },
      [](Engine& e) { return write_and_flush(e, 0, 60, std::string(100, 'a')); },
      [](Engine& e) { return write_and_flush(e, 30, 60, std::string(100, 'b')); },
      // The first file moves to level 1. Each of the other compactions is a single one that merges.
      [](Engine& e) { return e.open_table("t").value()->compact(); },
      [](Engine& e) { return write_and_flush(e, 10, 60, std::string(110, 'c')); },
      [](Engine& e) { return e.open_table("t").value()->compact(); },
      [](Engine& e) { return write_and_flush(e, 1, 60, std::string(90, 'd')); },
      [](Engine& e) { return e.open_table("t").value()->major_compact(); },
  };
  return all;
}

TEST(CompactionPartsCrash, LeavesAllInputsOrAllOutputs) {
  PartsWatcher watcher;
  StepSweep<std::string> sweep(steps_in_parts(), look_at_parts, [&](EngineOptions& options) {
    options.automatic_compaction = false;
    options.compaction_parts_max = 3;
    options.compaction_part_bytes = 1;
    options.environment.events = &watcher;
  });
  EXPECT_FALSE(sweep.last_world().empty());
  EXPECT_EQ(watcher.most_parts(), 3u);
  EXPECT_EQ(watcher.in_parts(), 2);
  const uint64_t crashes = sweep.run(scaled(100'000));
  count(crashes, "crashes of a store that compacts in parts");
}

}  // namespace
}  // namespace cellar::testing
