// LevelTriggers: the file whose markers are the most urgent.
#include "compaction/level_triggers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace cellar {
namespace {

bool counts(const StoreFileInfo& file) { return file.deletes != 0 && !file.major && !file.busy; }

// Returns whether a running compaction keeps the file of a level from 1 on where it is.
bool is_blocked(const StoreFileInfo& file, const Levels& levels) {
  CELLAR_ASSERT(file.level > 0);
  const Rows rows = Rows::of(file);
  if (levels.run_of(file.level)->busy && levels.run_of(file.level + 1) == nullptr) return true;
  return std::ranges::any_of(levels.files_of(file.level + 1),
                             [&](const StoreFileInfo& below) { return below.busy && rows.meet(below); });
}

}  // namespace

double LevelTriggers::allowed_ms(uint32_t level, size_t deepest) const {
  CELLAR_ASSERT(fanout_ > 1);
  const double all = static_cast<double>(age_ms_);
  if (level >= deepest) return all;
  // The parts 1, T, T^2, … of the levels from 0 on are the whole time.
  return all * (std::pow(fanout_, level + 1) - 1) / (std::pow(fanout_, deepest) - 1);
}

std::optional<LevelTriggers::Due> LevelTriggers::due(const Levels& levels, const StoreShape& shape,
                                                     std::vector<std::string>* trace) const {
  if (tombstones_ <= 0 && age_ms_ <= 0) return std::nullopt;
  CELLAR_ASSERT(levels.misplaced == nullptr);
  Due oldest;
  Due densest;
  double over_most = 0;
  double part_most = tombstones_;
  for (const StoreFileInfo& file : shape.files) {
    if (!counts(file) || (file.level > 0 && is_blocked(file, levels))) continue;
    const double part =
        static_cast<double>(file.deletes) / static_cast<double>(std::max<uint64_t>(1, file.cells));
    if (tombstones_ > 0 && file.level > 0 && part > part_most) {
      part_most = part;
      densest = {&file, fmt::format("{:.0f} % of the cells of file {} are markers", 100 * part, file.id)};
    }
    if (age_ms_ <= 0 || file.earliest_delete == INT64_MAX) continue;
    const double age = static_cast<double>(shape.now_ms) - static_cast<double>(file.earliest_delete);
    const double allowed = allowed_ms(file.level, levels.deep.size());
    if (age - allowed <= over_most) continue;
    over_most = age - allowed;
    oldest = {&file, fmt::format("a marker of file {} is {:.0f} s old, level {} keeps them for {:.0f} s",
                                 file.id, age / 1000, file.level, allowed / 1000)};
  }
  Due& result = oldest.file != nullptr ? oldest : densest;
  if (result.file == nullptr) return std::nullopt;
  say(trace, result.why);
  return std::move(result);
}

}  // namespace cellar
