// plan_for_scans: files are added until no other file shares rows with them.
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

// Returns whether each file is an input.
std::vector<bool> inputs_among(const StoreShape& shape, const ScanWaste& waste) {
  std::vector<bool> chosen(shape.files.size(), waste.all_files);
  std::string_view first = waste.first_row;
  std::string_view last = waste.last_row;
  for (bool grows = !waste.all_files; grows;) {
    grows = false;
    for (size_t i = 0; i < shape.files.size(); ++i) {
      const StoreFileInfo& file = shape.files[i];
      if (chosen[i] || file.first_row > last || file.last_row < first) continue;
      chosen[i] = grows = true;
      first = std::min<std::string_view>(first, file.first_row);
      last = std::max<std::string_view>(last, file.last_row);
    }
  }
  return chosen;
}

// Returns the plan that merges the chosen files where the oldest of them is. With a level, a compaction above
// nothing older may drop markers.
CompactionPlan merge_of_chosen(const CompactionPolicy& policy, const StoreShape& shape,
                               const std::vector<bool>& chosen) {
  CompactionPlan plan;
  const auto oldest = static_cast<size_t>(std::ranges::find(chosen, true) - chosen.begin());
  CELLAR_ASSERT(oldest < shape.files.size());
  for (size_t i = oldest; i < chosen.size(); ++i)
    if (chosen[i]) plan.inputs.push_back(shape.files[i].id);
  plan.level = std::max<uint32_t>(1, shape.files[oldest].level);
  if (shape.files[oldest].level != 0) plan.run = shape.files[oldest].run;
  plan.file_bytes = policy.major_output(shape).file_bytes;
  return plan;
}

// The work of a compaction of the chosen files.
struct Cost {
  uint64_t read = 0;     // cells
  uint64_t markers = 0;  // of them, that a compaction may drop
  bool busy = false;

  // Returns the mean of the cells that are read and of those that are written, about. A marker most often
  // leaves together with one cell that it hides.
  uint64_t cells() const { return read - std::min(read, markers); }
};

Cost cost_of(const StoreShape& shape, const std::vector<bool>& chosen) {
  CELLAR_ASSERT(chosen.size() == shape.files.size());
  Cost cost;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    cost.read += shape.files[i].cells;
    if (!shape.files[i].major) cost.markers += shape.files[i].deletes;
    cost.busy = cost.busy || shape.files[i].busy;
  }
  return cost;
}

}  // namespace

ScanPlan plan_for_scans(const CompactionPolicy& policy, const StoreShape& shape, const ScanWaste& waste) {
  CELLAR_ASSERT(waste.first_row <= waste.last_row);
  const std::vector<bool> chosen = inputs_among(shape, waste);
  const Cost cost = cost_of(shape, chosen);
  ScanPlan result;
  if (cost.markers == 0) return result;
  result.worth_at = cost.cells();
  if (cost.busy || waste.cells < result.worth_at) return result;
  const bool all = std::ranges::find(chosen, false) == chosen.end();
  if (!all) {
    CompactionPlan part = merge_of_chosen(policy, shape, chosen);
    if (check_plan(part, shape, false).ok()) result.plan = std::move(part);
  }
  if (!result.plan) {
    result.worth_at = cost_of(shape, std::vector<bool>(chosen.size(), true)).cells();
    if (waste.cells >= result.worth_at) result.plan = major_plan(policy, shape, true);
  }
  if (result.plan) result.plan->why = fmt::format("scans examined {} deleted cells in vain", waste.cells);
  return result;
}

}  // namespace cellar
