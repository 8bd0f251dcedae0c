// ratio: HBase's older selection (RatioBasedCompactionPolicy): the oldest file that is not too large for the
// younger ones, and these. It looks at each file once, and takes older files than "exploring" does.
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
class Ratio final : public CompactionPolicy {
 public:
  explicit Ratio(const PluginParams& params) : selection_(params), moves_(params), triggers_(params) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const std::vector<SortedRun> runs = sorted_runs(shape.files);
    if (auto plan = moves_.pick(runs, shape, trace)) return plan;
    SelectionLimits limits = selection_.limits(shape, trace);
    const std::span<const SortedRun> candidates = candidates_of(runs, limits.bytes_max);
    const bool stuck = runs.size() >= shape.files_stop;
    limits.runs_min = least_runs(limits, candidates.size(), stuck, shape);
    if (candidates.size() < limits.runs_min)
      say(trace, fmt::format("{} candidates, fewer than files_min={}", candidates.size(), limits.runs_min));
    const Window best = select_by_ratio(candidates, limits, stuck, trace);
    if (best.count == 0) return triggers_.pick(runs, shape, trace);
    CELLAR_ASSERT(best.count >= limits.runs_min);
    CompactionPlan plan = merge_of(candidates, best);
    plan.why =
        fmt::format("{} files of {}, the oldest within ratio {}{}", best.count, human_bytes(best.bytes),
                    limits.ratio, best.in_ratio ? "" : " (not: the store is stuck, youngest files)");
    return plan;
  }

 private:
  SelectionParams selection_;
  Moves moves_;
  Triggers triggers_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_ratio, "ratio", Ratio)

}  // namespace cellar
