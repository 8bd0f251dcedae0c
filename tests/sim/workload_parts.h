// Helpers that running a course and checking its outcome share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/sim/workload.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {

inline constexpr std::string_view kShared = "shared";  // a row that many writes put a version into

// An alteration of table x sets these values.
inline constexpr uint32_t kAlteredVersions = 900;
inline constexpr uint64_t kAlteredBytes = 1 << 20;

inline constexpr uint64_t kLogSegmentBytes = 64 << 10;

inline const std::string kSmallFeed = "small";
inline FeedOptions small_feed() {
  return {.tables = {{"t", {"a", "b"}}, {"u", {}}}, .retained_bytes_max = kLogSegmentBytes};
}
inline bool is_lost(Engine& engine, const std::string& feed) {
  const std::vector<FeedInfo> feeds = engine.feeds().list();
  return std::ranges::any_of(feeds, [&](const FeedInfo& each) { return each.name == feed && each.lost; });
}

inline FamilyOptions family_of(const std::string& name) {
  FamilyOptions family;
  family.name = name;
  family.max_versions = 1000;
  family.block_bytes = 1024;
  family.compression = "none";
  family.compaction = "exploring(ratio=1.2, files_min=2, files_max=3)";
  return family;
}

inline EngineOptions engine_options(FileSystem& files, ManualClock& clock, StepExecutor& executor) {
  EngineOptions options;
  options.create_if_missing = true;
  options.log_segment_bytes = kLogSegmentBytes;
  options.automatic_compaction = false;
  options.cache_bytes = 20'000;  // less than the data, so that rows are kept
  options.environment = {.files = &files, .clock = &clock, .executor = &executor, .seed = 7};
  return options;
}

// Returns the cells that are there: "table/family/row", of the shared row followed by its timestamp.
inline Result<std::set<std::string>> cells_found(Engine& engine) {
  std::set<std::string> found;
  for (const std::string& name : engine.list_tables()) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine.open_table(name));
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table->scan(Scan().all_versions()));
    while (scanner->next())
      for (const CellView& cell : scanner->row())
        found.insert(fmt::format("{}/{}/{}{}", name, cell.family(), cell.row(),
                                 cell.row() == kShared ? fmt::format("@{}", cell.timestamp) : ""));
    CELLAR_TRY(scanner->status());
  }
  return found;
}

inline bool has_all(const std::set<std::string>& found, const TriedWrite& write) {
  return std::ranges::all_of(write.cells, [&](const std::string& cell) { return found.contains(cell); });
}
inline bool has_any(const std::set<std::string>& found, const TriedWrite& write) {
  return std::ranges::any_of(write.cells, [&](const std::string& cell) { return found.contains(cell); });
}

}  // namespace cellar::testing
