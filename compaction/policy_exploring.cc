// exploring: HBase's default selection (ExploringCompactionPolicy): of all contiguous windows the one with
// most files, then fewest bytes.
#include <fmt/format.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/moves.h"
#include "compaction/selection.h"
#include "compaction/triggers.h"

namespace cellar {
namespace {

// Parameters: see SelectionParams, Moves and Triggers.
class Exploring final : public CompactionPolicy {
 public:
  explicit Exploring(const PluginParams& params) : selection_(params), moves_(params), triggers_(params) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const std::vector<SortedRun> runs = sorted_runs(shape.files);
    if (auto plan = moves_.pick(runs, shape, trace)) return plan;
    if (auto plan = pick_window(runs, shape, trace)) return plan;
    return triggers_.pick(runs, shape, trace);
  }

 private:
  std::optional<CompactionPlan> pick_window(std::span<const SortedRun> runs, const StoreShape& shape,
                                            std::vector<std::string>* trace) const {
    SelectionLimits limits = selection_.limits(shape, trace);
    const std::span<const SortedRun> candidates = candidates_of(runs, limits.bytes_max);
    const bool stuck = runs.size() >= shape.files_stop;
    limits.runs_min = least_runs(limits, candidates.size(), stuck, shape);
    if (candidates.size() < limits.runs_min) {
      say(trace, fmt::format("{} candidates, fewer than files_min={}", candidates.size(), limits.runs_min));
      return std::nullopt;
    }
    const Window best = explore(candidates, limits, stuck, trace);
    if (best.count == 0) return std::nullopt;
    CELLAR_ASSERT(best.count >= limits.runs_min);
    CompactionPlan plan = merge_of(candidates, best);
    plan.why = fmt::format("{} files of {} within ratio {}{}", best.count, human_bytes(best.bytes),
                           limits.ratio, best.in_ratio ? "" : " (not: the store is stuck, smallest window)");
    return plan;
  }

  SelectionParams selection_;
  Moves moves_;
  Triggers triggers_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_exploring, "exploring", Exploring)

}  // namespace cellar
