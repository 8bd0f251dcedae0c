// exploring: HBase's default selection (ExploringCompactionPolicy): of all contiguous windows the one with
// most files, then fewest bytes.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/sorted_runs.h"

namespace cellar {
namespace {

// Parameters, with HBase's names in parentheses: ratio (hbase.hstore.compaction.ratio), files_min (….min),
// files_max (….max), bytes_min (….min.size; 0: the flush size), bytes_max (….max.size).
class Exploring final : public CompactionPolicy {
 public:
  explicit Exploring(const PluginParams& params)
      : ratio_(params.number("ratio", 1.2)),
        files_min_(std::max<uint64_t>(2, params.count("files_min", 3))),
        files_max_(std::max(files_min_, params.count("files_max", 10))),
        bytes_min_(params.bytes("bytes_min", 0)),
        bytes_max_(params.bytes("bytes_max", INT64_MAX)) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const std::vector<SortedRun> runs = sorted_runs(shape.files);
    const std::span<const SortedRun> candidates = candidates_of(runs);
    const bool stuck = runs.size() >= shape.files_stop;
    uint64_t files_min = files_min_;
    // Writers wait at files_stop: there may never be files_min candidates.
    if (stuck)
      files_min =
          std::max<uint64_t>(2, std::min<uint64_t>({files_min_, shape.files_stop, candidates.size()}));
    if (candidates.size() < files_min) {
      say(trace, fmt::format("{} candidates, fewer than files_min={}", candidates.size(), files_min));
      return std::nullopt;
    }
    const Window best = search(candidates, shape, files_min, stuck, trace);
    if (best.count == 0) return std::nullopt;
    CompactionPlan plan;
    for (const SortedRun& run : candidates.subspan(best.begin, best.count))
      for (const StoreFileInfo& file : run.files) plan.inputs.push_back(file.id);
    plan.why = fmt::format("{} files of {} within ratio {}{}", best.count, human_bytes(best.bytes), ratio_,
                           best.in_ratio ? "" : " (not: the store is stuck, smallest window)");
    return plan;
  }

 private:
  struct Window {
    size_t begin = 0;
    size_t count = 0;
    uint64_t bytes = 0;
    bool in_ratio = true;
  };

  static void say(std::vector<std::string>* trace, std::string line) {
    if (trace != nullptr) trace->push_back(std::move(line));
  }

  // Returns the runs after the last one that is busy or excluded, without leading runs larger than
  // bytes_max. HBase drops only the excluded files themselves from a minor selection. Here the inputs of a
  // compaction are neighbours in age. A run is what a file is in HBase: another policy may have left several
  // files in it.
  std::span<const SortedRun> candidates_of(std::span<const SortedRun> runs) const {
    size_t begin = 0;
    for (size_t i = 0; i < runs.size(); ++i)
      if (runs[i].busy || std::ranges::any_of(runs[i].files, &StoreFileInfo::exclude_from_minor))
        begin = i + 1;
    while (begin < runs.size() && runs[begin].bytes > bytes_max_) ++begin;
    return runs.subspan(begin);
  }

  bool in_ratio(std::span<const SortedRun> window, uint64_t total) const {
    return std::ranges::all_of(window, [&](const SortedRun& run) {
      return static_cast<double>(run.bytes) <= ratio_ * static_cast<double>(total - run.bytes);
    });
  }

  bool better(const Window& best, size_t count, uint64_t bytes, bool stuck) const {
    if (best.count == 0) return true;
    if (stuck) {  // most files per byte, by a margin of 5 %
      const double old_gain =
          static_cast<double>(best.count) / static_cast<double>(std::max<uint64_t>(1, best.bytes));
      return static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(1, bytes)) > old_gain * 1.05;
    }
    return count > best.count || (count == best.count && bytes < best.bytes);
  }

  Window search(std::span<const SortedRun> files, const StoreShape& shape, uint64_t files_min, bool stuck,
                std::vector<std::string>* trace) const {
    const uint64_t bytes_min = bytes_min_ != 0 ? bytes_min_ : shape.flush_bytes;
    Window best;
    Window smallest;
    for (size_t begin = 0; begin < files.size(); ++begin) {
      uint64_t bytes = 0;
      for (size_t count = 1; begin + count <= files.size() && count <= files_max_; ++count) {
        bytes += files[begin + count - 1].bytes;
        if (count < files_min) continue;
        if (stuck && (smallest.count == 0 || bytes < smallest.bytes)) smallest = {begin, count, bytes, false};
        if (bytes > bytes_max_) continue;
        const bool fits = bytes < bytes_min || in_ratio(files.subspan(begin, count), bytes);
        say(trace, fmt::format("window {}+{}: {}, {}", begin, count, human_bytes(bytes),
                               fits ? "fits" : "a file is too large for the ratio"));
        if (fits && better(best, count, bytes, stuck)) best = {begin, count, bytes, true};
      }
    }
    return best.count != 0 ? best : smallest;
  }

  double ratio_;
  uint64_t files_min_;
  uint64_t files_max_;
  uint64_t bytes_min_;
  uint64_t bytes_max_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_exploring, "exploring", Exploring)

}  // namespace cellar
