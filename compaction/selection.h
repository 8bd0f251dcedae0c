// Selection: how HBase's policies choose neighbours in age by their sizes. A sorted run counts as a file does
// in HBase.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/sorted_runs.h"

namespace cellar {

// SelectionLimits: what a selection of some shape keeps to.
struct SelectionLimits {
  double ratio = 1.2;
  uint64_t runs_min = 3;
  uint64_t runs_max = 10;
  uint64_t bytes_min = 0;
  uint64_t bytes_max = INT64_MAX;
};

// SelectionParams: the parameters of a selection, with HBase's names in parentheses:
// - ratio (hbase.hstore.compaction.ratio), files_min (….min), files_max (….max), bytes_min (….min.size; 0:
//   the flush size), bytes_max (….max.size);
// - offpeak_start, offpeak_end (hbase.offpeak.start.hour, ….end.hour): hours of the day, the end exclusive.
//   In these hours, ratio_offpeak (….ratio.offpeak) and bytes_max_offpeak (….max.size.offpeak) hold.
// - utc_offset_minutes: how far the clock of these hours is ahead of UTC.
class SelectionParams {
 public:
  explicit SelectionParams(const PluginParams& params);
  // Explains it if the hours are off-peak.
  SelectionLimits limits(const StoreShape& shape, std::vector<std::string>* trace) const;

 private:
  bool is_offpeak(int64_t now_ms) const;

  SelectionLimits limits_;
  bool has_offpeak_ = false;
  int64_t offpeak_start_ = 0;
  int64_t offpeak_end_ = 0;
  int64_t utc_offset_minutes_ = 0;
  double ratio_offpeak_ = 5;
  uint64_t bytes_max_offpeak_ = INT64_MAX;
};

// Window: some neighbours of a list of runs. No window: count is 0.
struct Window {
  size_t begin = 0;
  size_t count = 0;
  uint64_t bytes = 0;
  bool in_ratio = true;
};

// Returns the runs after the last one that is busy or excluded, without leading runs larger than `bytes_max`.
// HBase drops only the excluded files themselves from a minor selection. Here the inputs of a compaction are
// neighbours in age.
std::span<const SortedRun> candidates_of(std::span<const SortedRun> runs, uint64_t bytes_max);

// Returns how many runs a selection must have. If writers wait at `files_stop` runs, there may never be
// runs_min candidates: then those that there are will do, but never one alone.
uint64_t least_runs(const SelectionLimits& limits, size_t candidates, bool stuck, const StoreShape& shape);

// HBase's ExploringCompactionPolicy. A window fits if no run in it is larger than the ratio times the others
// together. Returns the one with most runs, then with fewest bytes. If the store is stuck, returns the one
// with most runs for a byte. If none fits, that is the smallest window.
Window explore(std::span<const SortedRun> runs, const SelectionLimits& limits, bool stuck,
               std::vector<std::string>* trace);

// HBase's RatioBasedCompactionPolicy. From the oldest run on, the first one fits that is not larger than the
// ratio times the younger ones together. Returns it with these. If none fits and the store is stuck, returns
// the youngest ones.
Window select_by_ratio(std::span<const SortedRun> runs, const SelectionLimits& limits, bool stuck,
                       std::vector<std::string>* trace);

// Returns a plan that merges the files of a window, without a reason.
CompactionPlan merge_of(std::span<const SortedRun> runs, const Window& window);

}  // namespace cellar
