// Triggers: parts of markers and of expired cells.
#include "compaction/triggers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "compaction/selection.h"

namespace cellar {
namespace {

// Returns the part of the runs' cells that are markers which a compaction may get rid of.
double marked_part(std::span<const SortedRun> runs) {
  CELLAR_ASSERT(!runs.empty());
  uint64_t cells = 0;
  uint64_t markers = 0;
  for (const SortedRun& run : runs)
    for (const StoreFileInfo& file : run.files) {
      cells += file.cells;
      if (!file.major) markers += file.deletes;
    }
  return static_cast<double>(markers) / static_cast<double>(std::max<uint64_t>(1, cells));
}

}  // namespace

double expired_part(const StoreFileInfo& file, const StoreShape& shape) {
  if (shape.erase_before_ms == INT64_MIN) return 0;
  // A marker of a whole column reaches back to the beginning of time, so time_min may say little.
  const double from = std::max(static_cast<double>(file.time_min),
                               static_cast<double>(file.created_ms) - static_cast<double>(shape.ttl_ms));
  const double span = static_cast<double>(file.time_max) - from;
  const double over = static_cast<double>(shape.erase_before_ms) - from;
  if (over <= 0) return 0;
  return span <= over ? 1 : over / span;
}

std::optional<CompactionPlan> Triggers::pick(std::span<const SortedRun> runs, const StoreShape& shape,
                                             std::vector<std::string>* trace) const {
  if (auto plan = pick_marked(runs, trace)) return plan;
  return pick_expired(runs, shape, trace);
}

std::optional<CompactionPlan> Triggers::pick_marked(std::span<const SortedRun> runs,
                                                    std::vector<std::string>* trace) const {
  if (tombstones_ <= 0) return std::nullopt;
  double most = tombstones_;
  std::span<const SortedRun> best;
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::span<const SortedRun> inputs = i == 0 ? runs.first(1) : runs.subspan(i - 1, 2);
    if (!std::ranges::all_of(inputs, is_free)) continue;
    const double part = marked_part(inputs);
    say(trace, fmt::format("{:.0f} % markers in {} runs up to {}", 100 * part, inputs.size(), i));
    if (part <= most) continue;
    most = part;
    best = inputs;
  }
  if (best.empty()) return std::nullopt;
  CompactionPlan plan = merge_of(best, {0, best.size()});
  plan.why = fmt::format("{:.0f} % of the cells of {} files are markers", 100 * most, plan.inputs.size());
  // Nothing is older than the oldest run. With a level, a compaction of it may drop markers.
  const bool oldest = best.data() == runs.data();
  if (oldest) plan.level = std::max<uint32_t>(1, best.front().level);
  if (oldest && best.size() == 1 && best.front().level != 0) plan.run = best.front().id;
  CELLAR_ASSERT(!plan.inputs.empty());
  return plan;
}

std::optional<CompactionPlan> Triggers::pick_expired(std::span<const SortedRun> runs, const StoreShape& shape,
                                                     std::vector<std::string>* trace) const {
  if (expired_ <= 0) return std::nullopt;
  const StoreFileInfo* best = nullptr;
  double most = 0;
  for (const SortedRun& run : runs) {
    // A run without a level takes no files, so a part of it cannot be rewritten.
    if (!is_free(run) || (run.level == 0 && run.files.size() > 1)) continue;
    for (const StoreFileInfo& file : run.files) {
      const double part = expired_part(file, shape);
      say(trace, fmt::format("file {}: {:.0f} % expired", file.id, 100 * part));
      const double bytes = part * static_cast<double>(std::max<uint64_t>(1, file.bytes));
      if (part <= expired_ || bytes <= most) continue;
      most = bytes;
      best = &file;
    }
  }
  if (best == nullptr) return std::nullopt;
  CompactionPlan plan{.inputs = {best->id}};
  plan.why = fmt::format("about {:.0f} % of the cells have expired", 100 * expired_part(*best, shape));
  if (best->level != 0) plan.run = best->run;
  plan.level = best->level;
  CELLAR_ASSERT(plan.level == 0 || plan.run != 0);
  return plan;
}

}  // namespace cellar
