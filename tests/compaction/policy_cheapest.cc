// cheapest: once there are more than `files_max` files, merges the `width` neighbours that cost least to
// read.
#include <algorithm>

#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"

namespace cellar {
namespace {

class Cheapest final : public CompactionPolicy {
 public:
  explicit Cheapest(const PluginParams& params)
      : files_max_(params.count("files_max", 8)), width_(std::max<uint64_t>(2, params.count("width", 4))) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    if (shape.files.size() <= files_max_) return std::nullopt;
    std::optional<CompactionPlan> best;
    uint64_t least = UINT64_MAX;
    for (size_t begin = 0; begin + width_ <= shape.files.size(); ++begin) {
      CompactionPlan plan;
      uint64_t bytes = 0;
      bool busy = false;
      for (const StoreFileInfo& file : shape.files.subspan(begin, width_)) {
        plan.inputs.push_back(file.id);
        bytes += file.bytes;
        busy = busy || file.busy;
      }
      if (trace != nullptr)
        trace->push_back("window at " + std::to_string(begin) + ": " + std::to_string(bytes) + " bytes");
      if (busy || bytes >= least) continue;
      least = bytes;
      plan.why = "the cheapest " + std::to_string(width_) + " of " + std::to_string(shape.files.size());
      best = std::move(plan);
    }
    return best;
  }

 private:
  uint64_t files_max_;
  uint64_t width_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_cheapest, "cheapest", Cheapest)

}  // namespace cellar
