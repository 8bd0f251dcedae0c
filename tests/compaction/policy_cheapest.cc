// cheapest: once there are more than `runs_max` sorted runs, merges the `width` neighbours that cost least to
// read.
#include <algorithm>

#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"

namespace cellar {
namespace {

class Cheapest final : public CompactionPolicy {
 public:
  explicit Cheapest(const PluginParams& params)
      : runs_max_(params.count_within("runs_max", 8, 1, 1000)),
        width_(params.count_within("width", 4, 2, 1000)) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const auto runs = runs_of(shape.files);
    if (runs.size() <= runs_max_ && runs.size() < shape.files_stop) {
      say(trace, "runs are few: " + std::to_string(runs.size()));
      return std::nullopt;
    }
    std::optional<CompactionPlan> best;
    uint64_t least = UINT64_MAX;
    const size_t width = std::min<size_t>(width_, runs.size());
    for (size_t begin = 0; width >= 2 && begin + width <= runs.size(); ++begin) {
      CompactionPlan plan;
      uint64_t bytes = 0;
      bool free = true;
      for (size_t i = begin; i < begin + width; ++i)
        for (const StoreFileInfo& file : runs[i]) {
          plan.inputs.push_back(file.id);
          bytes += file.bytes;
          free = free && !file.busy && !file.exclude_from_minor;
        }
      say(trace, "window at " + std::to_string(begin) + ": " + std::to_string(bytes) + " bytes" +
                     (free ? "" : ", not free"));
      if (!free || bytes >= least) continue;
      least = bytes;
      plan.why = "the cheapest " + std::to_string(width) + " of " + std::to_string(runs.size());
      best = std::move(plan);
    }
    return best;
  }

 private:
  static void say(std::vector<std::string>* trace, std::string line) {
    if (trace != nullptr) trace->push_back(std::move(line));
  }

  uint64_t runs_max_;
  uint64_t width_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_cheapest, "cheapest", Cheapest)

}  // namespace cellar
