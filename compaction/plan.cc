// Compaction plans.
#include "compaction/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace cellar {

Status check_plan(const CompactionPlan& plan, const StoreShape& shape, bool may_rewrite_one) {
  const size_t least = may_rewrite_one ? 1 : 2;
  if (plan.inputs.size() < least)
    return Status::invalid_argument(fmt::format("plan of {} files: it gains nothing", plan.inputs.size()));
  const auto first = std::ranges::find(shape.files, plan.inputs.front(), &StoreFileInfo::id);
  if (first == shape.files.end())
    return Status::invalid_argument(
        fmt::format("plan names file {}, which the store does not have", plan.inputs.front()));
  auto file = first;
  for (const uint64_t id : plan.inputs) {
    if (file == shape.files.end() || file->id != id)
      return Status::invalid_argument(fmt::format("plan is not contiguous in age at file {}", id));
    if (file->busy)
      return Status::invalid_argument(fmt::format("plan names file {}, which is being compacted", id));
    ++file;
  }
  return {};
}

std::optional<CompactionPlan> major_plan(const StoreShape& shape, bool forced) {
  if (shape.files.empty() || (!forced && shape.files.size() == 1 && shape.files[0].major))
    return std::nullopt;
  CompactionPlan plan{.inputs = {}, .why = "major compaction"};
  for (const StoreFileInfo& file : shape.files) {
    if (file.busy) return std::nullopt;
    plan.inputs.push_back(file.id);
  }
  return plan;
}

std::string to_text(const CompactionPlan& plan, const StoreShape& shape) {
  uint64_t bytes = 0;
  for (const StoreFileInfo& file : shape.files)
    if (std::ranges::find(plan.inputs, file.id) != plan.inputs.end()) bytes += file.bytes;
  return fmt::format("{} of {} files, {}: {}", plan.inputs.size(), shape.files.size(), human_bytes(bytes),
                     plan.why);
}

}  // namespace cellar
