// Selection: windows of neighbours and their ratios.
#include "compaction/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"

namespace cellar {
namespace {

constexpr int64_t kMinutesOfDay = 24 * 60;

bool in_ratio(std::span<const SortedRun> window, uint64_t total, double ratio) {
  return std::ranges::all_of(window, [&](const SortedRun& run) {
    CELLAR_DCHECK(run.bytes <= total);
    return static_cast<double>(run.bytes) <= ratio * static_cast<double>(total - run.bytes);
  });
}

bool is_better(const Window& best, size_t count, uint64_t bytes, bool stuck) {
  if (best.count == 0) return true;
  if (stuck) {  // most files per byte, by a margin of 5 %
    const double old_gain =
        static_cast<double>(best.count) / static_cast<double>(std::max<uint64_t>(1, best.bytes));
    return static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(1, bytes)) > old_gain * 1.05;
  }
  return count > best.count || (count == best.count && bytes < best.bytes);
}

}  // namespace

SelectionParams::SelectionParams(const PluginParams& params)
    : utc_offset_minutes_(params.integer_within("utc_offset_minutes", 0, -kMinutesOfDay, kMinutesOfDay)),
      ratio_offpeak_(params.number("ratio_offpeak", 5)) {
  limits_.ratio = params.number("ratio", 1.2);
  limits_.runs_min = std::max<uint64_t>(2, params.count("files_min", 3));
  limits_.runs_max = std::max(limits_.runs_min, params.count("files_max", 10));
  limits_.bytes_min = params.bytes("bytes_min", 0);
  limits_.bytes_max = params.bytes("bytes_max", INT64_MAX);
  bytes_max_offpeak_ = params.bytes("bytes_max_offpeak", limits_.bytes_max);
  has_offpeak_ = !params.text("offpeak_start", "").empty() || !params.text("offpeak_end", "").empty();
  if (!has_offpeak_) return;
  offpeak_start_ = params.integer_within("offpeak_start", -1, 0, 23);  // one alone is an error
  offpeak_end_ = params.integer_within("offpeak_end", -1, 0, 23);
}

bool SelectionParams::is_offpeak(int64_t now_ms) const {
  if (!has_offpeak_) return false;
  const int64_t minute =
      ((now_ms / 60'000) % kMinutesOfDay + utc_offset_minutes_ + 2 * kMinutesOfDay) % kMinutesOfDay;
  CELLAR_ASSERT(minute >= 0);
  const int64_t hour = minute / 60;
  if (offpeak_start_ <= offpeak_end_) return hour >= offpeak_start_ && hour < offpeak_end_;
  return hour >= offpeak_start_ || hour < offpeak_end_;  // over midnight
}

SelectionLimits SelectionParams::limits(const StoreShape& shape, std::vector<std::string>* trace) const {
  SelectionLimits result = limits_;
  if (result.bytes_min == 0) result.bytes_min = shape.flush_bytes;
  CELLAR_ASSERT(result.runs_min >= 2 && result.runs_max >= result.runs_min);
  if (!is_offpeak(shape.now_ms)) return result;
  result.ratio = ratio_offpeak_;
  result.bytes_max = bytes_max_offpeak_;
  say(trace, fmt::format("off-peak hours: ratio {}", result.ratio));
  return result;
}

std::span<const SortedRun> candidates_of(std::span<const SortedRun> runs, uint64_t bytes_max) {
  size_t begin = 0;
  for (size_t i = 0; i < runs.size(); ++i)
    if (runs[i].busy || std::ranges::any_of(runs[i].files, &StoreFileInfo::exclude_from_minor)) begin = i + 1;
  while (begin < runs.size() && runs[begin].bytes > bytes_max) ++begin;
  CELLAR_ASSERT(begin <= runs.size());
  return runs.subspan(begin);
}

uint64_t least_runs(const SelectionLimits& limits, size_t candidates, bool stuck, const StoreShape& shape) {
  if (!stuck) return limits.runs_min;
  return std::max<uint64_t>(2, std::min<uint64_t>({limits.runs_min, shape.files_stop, candidates}));
}

Window explore(std::span<const SortedRun> runs, const SelectionLimits& limits, bool stuck,
               std::vector<std::string>* trace) {
  CELLAR_ASSERT(limits.runs_min > 0);
  Window best;
  Window smallest;
  for (size_t begin = 0; begin < runs.size(); ++begin) {
    uint64_t bytes = 0;
    for (size_t count = 1; begin + count <= runs.size() && count <= limits.runs_max; ++count) {
      bytes += runs[begin + count - 1].bytes;
      if (count < limits.runs_min) continue;
      if (stuck && (smallest.count == 0 || bytes < smallest.bytes)) smallest = {begin, count, bytes, false};
      if (bytes > limits.bytes_max) continue;
      const bool fits = bytes < limits.bytes_min || in_ratio(runs.subspan(begin, count), bytes, limits.ratio);
      say(trace, fmt::format("window {}+{}: {}, {}", begin, count, human_bytes(bytes),
                             fits ? "fits" : "a file is too large for the ratio"));
      if (fits && is_better(best, count, bytes, stuck)) best = {begin, count, bytes, true};
    }
  }
  return best.count != 0 ? best : smallest;
}

Window select_by_ratio(std::span<const SortedRun> runs, const SelectionLimits& limits, bool stuck,
                       std::vector<std::string>* trace) {
  CELLAR_ASSERT(limits.runs_min > 0 && limits.runs_max >= limits.runs_min);
  for (size_t begin = 0; begin + limits.runs_min <= runs.size(); ++begin) {
    const std::span<const SortedRun> window =
        runs.subspan(begin, std::min<uint64_t>(limits.runs_max, runs.size() - begin));
    const uint64_t oldest = window.front().bytes;
    const double most = limits.ratio * static_cast<double>(bytes_of(window) - oldest);
    const bool fits = oldest <= limits.bytes_min || static_cast<double>(oldest) <= most;
    say(trace, fmt::format("run {} of {}: the {} younger ones have {}, {}", begin, human_bytes(oldest),
                           window.size() - 1, human_bytes(bytes_of(window) - oldest),
                           fits ? "it fits" : "it is too large for the ratio"));
    if (fits) return {begin, window.size(), bytes_of(window), true};
  }
  if (!stuck || runs.size() < limits.runs_min) return {};
  const std::span<const SortedRun> youngest = runs.last(limits.runs_min);
  return {runs.size() - youngest.size(), youngest.size(), bytes_of(youngest), false};
}

CompactionPlan merge_of(std::span<const SortedRun> runs, const Window& window) {
  CELLAR_ASSERT(window.count > 0 && window.begin + window.count <= runs.size());
  CompactionPlan plan;
  for (const SortedRun& run : runs.subspan(window.begin, window.count))
    for (const StoreFileInfo& file : run.files) plan.inputs.push_back(file.id);
  return plan;
}

}  // namespace cellar
