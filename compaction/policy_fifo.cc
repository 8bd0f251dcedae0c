// fifo: files are never rewritten. They leave when all their cells have expired, or when the store is too
// large (HBase's FIFOCompactionPolicy, RocksDB's FIFO compaction).
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/plan.h"
#include "compaction/selection.h"

namespace cellar {
namespace {

// Parameter: bytes_max: from this size on, the oldest runs leave, whatever they hold. 0: no limit. The engine
// itself drops files that have expired, for every policy.
class Fifo final : public CompactionPolicy {
 public:
  explicit Fifo(const PluginParams& params) : bytes_max_(params.bytes("bytes_max", 0)) {}

  bool may_drop_live() const override { return bytes_max_ != 0; }

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    uint64_t bytes = 0;
    for (const StoreFileInfo& file : shape.files) bytes += file.bytes;
    if (bytes_max_ == 0 || bytes <= bytes_max_) {
      say(trace, bytes_max_ == 0 ? "files leave when all their cells have expired"
                                 : fmt::format("{} of {}", human_bytes(bytes), human_bytes(bytes_max_)));
      return std::nullopt;
    }
    const std::vector<SortedRun> runs = sorted_runs(shape.files);
    if (runs.size() == 1)
      say(trace, fmt::format("{}, more than {}, but the youngest run stays", human_bytes(bytes),
                             human_bytes(bytes_max_)));
    // Fewer runs than needed are better than none, if something keeps a younger one.
    for (size_t count = surplus(runs, bytes); count > 0; --count) {
      CompactionPlan plan = merge_of(runs, {0, count});
      plan.drop = plan.drop_live = true;
      plan.why = fmt::format("the store has {}, more than {}: the oldest files leave", human_bytes(bytes),
                             human_bytes(bytes_max_));
      const Status checked = check_plan(plan, shape, false);
      if (checked.ok()) return plan;
      say(trace, fmt::format("{} runs cannot leave: {}", count, checked.message()));
    }
    return std::nullopt;
  }

  // A run that holds most of the store would leave as a whole.
  bool may_be_merged() const override { return false; }

 private:
  // Returns how many of the oldest runs are too much. The youngest one stays.
  size_t surplus(const std::vector<SortedRun>& runs, uint64_t bytes) const {
    CELLAR_ASSERT(!runs.empty() && bytes > bytes_max_);
    size_t count = 0;
    for (uint64_t left = bytes; count + 1 < runs.size() && left > bytes_max_; ++count)
      left -= runs[count].bytes;
    return count;
  }

  uint64_t bytes_max_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_fifo, "fifo", Fifo)

}  // namespace cellar
