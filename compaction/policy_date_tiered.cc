// date_tiered: files whose newest cells are of the same period are merged with each other, never with others.
// Older periods are longer (HBase's DateTieredCompactionPolicy).
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/selection.h"
#include "compaction/triggers.h"

namespace cellar {
namespace {

int64_t floor_div(int64_t a, int64_t b) {
  CELLAR_ASSERT(b > 0);
  return a / b - (a % b < 0 ? 1 : 0);
}

int64_t minus(int64_t a, int64_t b) {
  int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? INT64_MIN : difference;
}

// Period: the timestamps from position * length_ms on, length_ms of them. In each tier all have one length.
struct Period {
  int64_t length_ms = 0;
  int64_t position = 0;

  bool is_after(int64_t time_ms) const { return position > floor_div(time_ms, length_ms); }
  bool is_before(int64_t time_ms) const { return position < floor_div(time_ms, length_ms); }

  // Returns the period before this one. It is `per_tier` times as long if this one is the first of such a
  // period, and if that one would not begin before `cutoff_ms`.
  Period earlier(int64_t per_tier, int64_t cutoff_ms) const {
    if (position - floor_div(position, per_tier) * per_tier > 0 || is_longest(per_tier, cutoff_ms))
      return {length_ms, position - 1};
    return {length_ms * per_tier, floor_div(position, per_tier) - 1};
  }
  // Returns whether all earlier periods are as long as this one.
  bool is_longest(int64_t per_tier, int64_t cutoff_ms) const {
    int64_t longer = 0;
    int64_t start = 0;
    return __builtin_mul_overflow(length_ms, per_tier, &longer) ||
           __builtin_mul_overflow(length_ms, position, &start) || minus(start, longer) < cutoff_ms;
  }
};

// Parameters, with HBase's names below hbase.hstore.compaction.date.tiered in parentheses:
// - window (base.window.millis): the length of the periods of the youngest tier.
// - windows_per_tier (windows.per.tier): how many periods of a tier are one of the next tier.
// - age_max (max.storefile.age.millis): older periods are left alone.
// - tier_age_max (max.tier.age.millis): periods do not become longer beyond this age.
// - incoming_files_min (incoming.window.min): as files_min, for the period that lasts.
// - those of SelectionParams, for the files of a period, and those of Triggers.
class DateTiered final : public CompactionPolicy {
 public:
  explicit DateTiered(const PluginParams& params)
      : window_ms_(std::max<int64_t>(1, params.duration_ms("window", int64_t{6} * 3600 * 1000))),
        per_tier_(params.integer_within("windows_per_tier", 4, 2, 1000)),
        age_max_ms_(params.duration_ms("age_max", INT64_MAX)),
        tier_age_max_ms_(params.duration_ms("tier_age_max", age_max_ms_)),
        incoming_min_(params.count_within("incoming_files_min", 6, 2, 1000)),
        selection_(params),
        triggers_(params) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const std::vector<SortedRun> runs = sorted_runs(shape.files);
    if (auto plan = pick_period(runs, shape, trace)) return plan;
    return triggers_.pick(runs, shape, trace);
  }

  // Each period keeps its files.
  bool may_be_merged() const override { return false; }

 private:
  static int64_t newest_of(const SortedRun& run) {
    CELLAR_ASSERT(!run.files.empty());
    return std::ranges::max(run.files, {}, &StoreFileInfo::time_max).time_max;
  }

  // Goes through the periods from the present one on, and through the runs from the youngest one on. A run
  // whose cells are older than those of an older run counts as that one. So a period has neighbours in age.
  std::optional<CompactionPlan> pick_period(std::span<const SortedRun> runs, const StoreShape& shape,
                                            std::vector<std::string>* trace) const {
    const SelectionLimits limits = selection_.limits(shape, trace);
    const std::span<const SortedRun> candidates = candidates_of(runs, limits.bytes_max);
    if (candidates.empty()) say(trace, "no runs are free");
    std::vector<int64_t> newest;
    for (const SortedRun& run : candidates)
      newest.push_back(std::max(newest_of(run), newest.empty() ? INT64_MIN : newest.back()));
    const int64_t oldest_ms = minus(shape.now_ms, age_max_ms_);
    const int64_t cutoff_ms = minus(shape.now_ms, tier_age_max_ms_);
    Period period{window_ms_, floor_div(shape.now_ms, window_ms_)};
    bool incoming = true;
    for (size_t end = candidates.size(); end > 0;) {
      if (period.is_after(newest[end - 1])) {
        const bool longest = period.is_longest(per_tier_, cutoff_ms);
        period = longest ? Period{period.length_ms, floor_div(newest[end - 1], period.length_ms)}
                         : period.earlier(per_tier_, cutoff_ms);
        incoming = false;
        continue;
      }
      if (period.is_before(oldest_ms)) {
        say(trace, fmt::format("{} runs are older than age_max", end));
        break;
      }
      // Files from the future belong to the present period.
      size_t begin = end;
      while (begin > 0 && !period.is_after(newest[begin - 1])) --begin;
      SelectionLimits own = limits;
      if (incoming) own.runs_min = incoming_min_;
      own.runs_max = std::max(own.runs_max, own.runs_min);
      if (auto plan = pick_in(candidates.subspan(begin, end - begin), period, own,
                              runs.size() >= shape.files_stop, trace))
        return plan;
      end = begin;
    }
    return std::nullopt;
  }

  // Merges files of a period. If the store is stuck, all of them.
  static std::optional<CompactionPlan> pick_in(std::span<const SortedRun> runs, const Period& period,
                                               const SelectionLimits& limits, bool stuck,
                                               std::vector<std::string>* trace) {
    const std::string name = fmt::format("period {} of {} ms", period.position, period.length_ms);
    say(trace, fmt::format("{}: {} runs, merged from {} on", name, runs.size(), stuck ? 2 : limits.runs_min));
    if (runs.size() < (stuck ? 2 : limits.runs_min)) return std::nullopt;
    Window window{0, runs.size()};
    if (!stuck) window = explore(runs, limits, false, trace);
    if (window.count == 0) return std::nullopt;
    CompactionPlan plan = merge_of(runs, window);
    plan.why = fmt::format("{} of {} files of {}{}", window.count, runs.size(), name,
                           stuck ? " (all: the store is stuck)" : "");
    return plan;
  }

  int64_t window_ms_;
  int64_t per_tier_;
  int64_t age_max_ms_;
  int64_t tier_age_max_ms_;
  uint64_t incoming_min_;
  SelectionParams selection_;
  Triggers triggers_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_date_tiered, "date_tiered", DateTiered)

}  // namespace cellar
