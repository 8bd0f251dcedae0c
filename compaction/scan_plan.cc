// plan_for_scans: one pass over the files, from the youngest to the oldest.
#include "compaction/scan_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "compaction/plan.h"

namespace cellar {
namespace {

// Returns whether the inputs cannot join a run and have to be the oldest flushes, so that levels stay levels.
bool takes_older_flushes(const StoreShape& shape, const CompactionPlan& output) {
  return output.level != 0 && std::ranges::none_of(shape.files, [](const StoreFileInfo& file) {
           return file.level == 1 && file.run != 0;
         });
}

// Returns whether each file is an input. These are the youngest file with markers, and each older file
// that has rows between those of younger inputs.
std::vector<bool> inputs_among(const StoreShape& shape, const ScanWaste& waste,
                               const CompactionPlan& output) {
  std::vector<bool> chosen(shape.files.size(), waste.all_files);
  if (waste.all_files) return chosen;
  const bool takes_flushes = takes_older_flushes(shape, output);
  std::string_view first = waste.first_row;
  std::string_view last = waste.last_row;
  bool begun = false;
  for (size_t i = shape.files.size(); i-- > 0;) {
    const StoreFileInfo& file = shape.files[i];
    const bool meets = file.first_row <= last && file.last_row >= first;
    if (begun ? !meets && !(takes_flushes && file.level == 0) : !meets || file.deletes == 0) continue;
    begun = chosen[i] = true;
    first = std::min<std::string_view>(first, file.first_row);
    last = std::max<std::string_view>(last, file.last_row);
  }
  return chosen;
}

// Returns the run that a merge of files from `oldest` on joins, or 0. Flushes go to the next run of level 1.
uint64_t run_below(const StoreShape& shape, size_t oldest) {
  CELLAR_ASSERT(oldest < shape.files.size());
  if (shape.files[oldest].level != 0) return shape.files[oldest].run;
  for (size_t i = oldest; i-- > 0;)
    if (shape.files[i].level != 0) return shape.files[i].level == 1 ? shape.files[i].run : 0;
  return 0;
}

// Returns the plan that merges the chosen files where the oldest of them is. With a level, a compaction above
// nothing older may drop markers.
CompactionPlan merge_of_chosen(const StoreShape& shape, const std::vector<bool>& chosen,
                               CompactionPlan output) {
  CompactionPlan plan;
  const auto oldest = static_cast<size_t>(std::ranges::find(chosen, true) - chosen.begin());
  CELLAR_ASSERT(oldest < shape.files.size());
  for (size_t i = oldest; i < chosen.size(); ++i)
    if (chosen[i]) plan.inputs.push_back(shape.files[i].id);
  plan.level = std::max<uint32_t>(1, shape.files[oldest].level);
  if (output.level != 0 || shape.files[oldest].level != 0) plan.run = run_below(shape, oldest);
  plan.file_bytes = output.file_bytes;
  plan.file_starts = std::move(output.file_starts);
  return plan;
}

// The work of a compaction of the chosen files.
struct Cost {
  uint64_t read = 0;     // cells
  uint64_t markers = 0;  // of them
  uint64_t bytes = 0;
  bool busy = false;

  // Returns the mean of the cells that are read and of those that are written, about. A marker most often
  // leaves together with one cell that it hides. Large cells cost as much as several small ones.
  uint64_t cells() const { return std::max(read - std::min(read, markers), bytes / kCellBytes); }

  static constexpr uint64_t kCellBytes = 64;
};

Cost cost_of(const StoreShape& shape, const std::vector<bool>& chosen) {
  CELLAR_ASSERT(chosen.size() == shape.files.size());
  Cost cost;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    cost.read += shape.files[i].cells;
    cost.markers += shape.files[i].deletes;
    cost.bytes += shape.files[i].bytes;
    cost.busy = cost.busy || shape.files[i].busy;
  }
  return cost;
}

}  // namespace

ScanPlan plan_for_scans(const CompactionPolicy& policy, const StoreShape& shape, const ScanWaste& waste) {
  CELLAR_ASSERT(waste.first_row <= waste.last_row && waste.price > 0);
  ScanPlan result;
  if (!policy.may_be_merged()) return result;
  CompactionPlan output = policy.major_output(shape);
  const std::vector<bool> chosen = inputs_among(shape, waste, output);
  const Cost cost = cost_of(shape, chosen);
  if (cost.markers == 0) return result;
  result.worth_at = std::max<uint64_t>(1, cost.cells()) * waste.price;
  if (cost.busy || waste.cells < result.worth_at) return result;
  if (std::ranges::find(chosen, false) == chosen.end()) {
    result.plan = major_plan(policy, shape, true);
  } else {
    result.plan = merge_of_chosen(shape, chosen, std::move(output));
    if (!check_plan(*result.plan, shape, true).ok()) result = {};
  }
  if (result.plan) result.plan->why = fmt::format("scans examined {} deleted cells in vain", waste.cells);
  return result;
}

}  // namespace cellar
