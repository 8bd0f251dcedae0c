// stripe: ranges of rows, each of which is compacted for itself (HBase's StripeCompactionPolicy). Flushes are
// cut at the borders of the stripes, and a stripe that has grown too large is split.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/selection.h"

namespace cellar {
namespace {

constexpr uint32_t kLevel = 1;  // of all runs of stripes

// Group: one stripe, or neighbours that some file joins. Its parts are what runs have of its rows, the oldest
// first.
struct Group {
  std::vector<SortedRun> parts;
  std::vector<std::string> starts;  // of its stripes, without the first one
  uint64_t bytes = 0;
};

// The runs of a shape: those of stripes, and then the younger ones of flushes.
struct Layout {
  std::vector<SortedRun> all;
  std::span<const SortedRun> deep;
  std::span<const SortedRun> young;
  std::vector<std::string> starts;  // the first row of each stripe but the first one
  std::vector<Group> groups;

  // The files of the oldest run say where stripes begin. A stripe has at least `least` bytes of them, so that
  // another policy's small files do not make many stripes.
  Layout(std::span<const StoreFileInfo> files, uint64_t least) : all(sorted_runs(files)) {
    size_t old = all.size();
    while (old > 0 && all[old - 1].level == 0) --old;
    deep = std::span(all).first(old);
    young = std::span(all).subspan(old);
    if (deep.empty()) return;
    uint64_t bytes = 0;
    for (const StoreFileInfo& file : deep.front().files) {
      if (bytes >= std::max<uint64_t>(1, least)) {
        starts.push_back(file.first_row);
        bytes = 0;
      }
      bytes += file.bytes;
    }
    make_groups();
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

 private:
  size_t stripe_of(const std::string& row) const {
    return static_cast<size_t>(std::ranges::upper_bound(starts, row) - starts.begin());
  }

  // A file with rows on both sides of a border joins the two stripes. Such a file was written before a split.
  void make_groups() {
    std::vector<bool> is_joined(starts.size() + 1, false);  // with the next stripe
    for (const SortedRun& run : deep)
      for (const StoreFileInfo& file : run.files)
        for (size_t i = stripe_of(file.first_row); i < stripe_of(file.last_row); ++i) is_joined[i] = true;
    std::vector<size_t> group_of;
    groups.emplace_back();
    for (size_t i = 0; i <= starts.size(); ++i) {
      group_of.push_back(groups.size() - 1);
      if (i == starts.size()) break;
      if (is_joined[i])
        groups.back().starts.push_back(starts[i]);
      else
        groups.emplace_back();
    }
    for (const SortedRun& run : deep) add_parts(run, group_of);
  }

  void add_parts(const SortedRun& run, const std::vector<size_t>& group_of) {
    for (size_t begin = 0; begin < run.files.size();) {
      const size_t group = group_of[stripe_of(run.files[begin].first_row)];
      size_t end = begin;
      SortedRun part;
      part.id = run.id;
      part.level = run.level;
      while (end < run.files.size() && group_of[stripe_of(run.files[end].first_row)] == group) {
        part.bytes += run.files[end].bytes;
        part.busy = part.busy || run.files[end].busy;
        ++end;
      }
      CELLAR_ASSERT(end > begin);
      part.files = run.files.subspan(begin, end - begin);
      groups[group].bytes += part.bytes;
      groups[group].parts.push_back(part);
      begin = end;
    }
  }
};

// Parameters, with HBase's names below hbase.store.stripe in parentheses:
// - stripes (initialStripeCount): how many stripes there are at first.
// - level0_files_min (compaction.minFilesL0): how many flushes are cut into stripes together.
// - split_bytes (sizeToSplit): from this size on, a stripe is split when all of it is compacted. 0: four
//   memtables, times level0_files_min, times split_count.
// - split_count (splitPartCount): into how many stripes.
// - those of SelectionParams, for the files of a stripe (compaction.minFiles and maxFiles in HBase).
class Stripe final : public CompactionPolicy {
 public:
  explicit Stripe(const PluginParams& params)
      : stripes_(params.count_within("stripes", 1, 1, 1000)),
        level0_min_(params.count_within("level0_files_min", 4, 2, 1000)),
        split_bytes_(params.bytes("split_bytes", 0)),
        split_count_(params.count_within("split_count", 2, 2, 1000)),
        selection_(params) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const Layout layout(shape.files, stripe_bytes_min(shape));
    if (auto plan = label(layout)) return plan;
    const bool stuck = layout.all.size() >= shape.files_stop;
    say(trace, fmt::format("{} runs of flushes, {} runs of stripes, {} stripes", layout.young.size(),
                           layout.deep.size(), layout.starts.size() + (layout.deep.empty() ? 0 : 1)));
    const bool deep_is_busy = std::ranges::any_of(layout.deep, &SortedRun::busy);
    if (!deep_is_busy)
      if (auto plan = sink(layout)) return plan;
    if (auto plan = cut_flushes(layout, stuck, trace)) return plan;
    if (deep_is_busy) return say(trace, "a stripe is busy"), std::nullopt;
    return compact_stripe(layout, shape, stuck, trace);
  }

  CompactionPlan major_output(const StoreShape& shape) const override {
    const Layout layout(shape.files, stripe_bytes_min(shape));
    return {.level = kLevel, .file_bytes = split_bytes(shape), .file_starts = layout.starts};
  }

 private:
  uint64_t split_bytes(const StoreShape& shape) const {
    const uint64_t usual = 4 * shape.flush_bytes * level0_min_ * split_count_;
    return std::max<uint64_t>(1, split_bytes_ != 0 ? split_bytes_ : usual);
  }
  // Half of what a split leaves.
  uint64_t stripe_bytes_min(const StoreShape& shape) const { return split_bytes(shape) / split_count_ / 2; }

  // Runs that another policy has left become runs of stripes as they are.
  static std::optional<CompactionPlan> label(const Layout& layout) {
    for (const SortedRun& run : layout.deep) {
      if (run.level == kLevel || run.busy) continue;
      CompactionPlan plan = merge_of({&run, 1}, {0, 1});
      plan.why = fmt::format("a run of level {} becomes one of stripes", run.level);
      plan.level = kLevel;
      plan.move = true;
      return plan;
    }
    return std::nullopt;
  }

  // Returns the index of the oldest run that a file of the run `from` may go to.
  static size_t lowest_for(const Layout& layout, size_t from, const StoreFileInfo& file) {
    size_t target = from;
    while (target > 0 && layout.deep[target - 1].level == kLevel &&
           has_none(layout.deep[target - 1], file.first_row, file.last_row))
      --target;
    return target;
  }
  static bool has_none(const SortedRun& run, const std::string& first, const std::string& last) {
    CELLAR_ASSERT(first <= last);
    return std::ranges::none_of(run.files, [&](const StoreFileInfo& each) {
      return each.first_row <= last && first <= each.last_row;
    });
  }

  // Files go to older runs if these have none of their rows. So the number of runs is that of the stripe that
  // has most. Neighbours go together, if the run that they go to has no file between them.
  static std::optional<CompactionPlan> sink(const Layout& layout) {
    for (size_t run = 1; run < layout.deep.size(); ++run) {
      size_t lowest = run;
      const StoreFileInfo* first = nullptr;
      CompactionPlan plan{.why = "an older run has none of these rows", .level = kLevel, .move = true};
      for (const StoreFileInfo& file : layout.deep[run].files) {
        const size_t target = lowest_for(layout, run, file);
        if (first == nullptr && target < run) {
          first = &file;
          lowest = target;
        }
        if (first == nullptr) continue;
        if (target != lowest || !has_none(layout.deep[lowest], first->first_row, file.last_row)) break;
        plan.inputs.push_back(file.id);
      }
      if (first == nullptr) continue;
      CELLAR_ASSERT(!plan.inputs.empty() && lowest < run);
      plan.run = layout.deep[lowest].id;
      return plan;
    }
    return std::nullopt;
  }

  // The runs of flushes become one, cut at the borders of stripes.
  std::optional<CompactionPlan> cut_flushes(const Layout& layout, bool stuck,
                                            std::vector<std::string>* trace) const {
    const std::span<const SortedRun> runs = candidates_of(layout.young, UINT64_MAX);
    const uint64_t least = stuck ? 2 : level0_min_;
    if (runs.size() < least) {
      say(trace, fmt::format("{} free runs of flushes, they are cut from {} on", runs.size(), least));
      return std::nullopt;
    }
    CompactionPlan plan = merge_of(runs, {0, runs.size()});
    uint64_t bytes = 0;
    for (const SortedRun& run : runs) bytes += run.bytes;
    plan.level = kLevel;
    plan.file_starts = layout.starts;
    if (layout.deep.empty() && stripes_ > 1) plan.file_bytes = 1 + bytes / stripes_;
    plan.why = fmt::format("{} flushes of {} are cut into stripes", runs.size(), human_bytes(bytes));
    return plan;
  }

  // Takes the selection with most files of all stripes, then with fewest bytes. If the store is stuck, the
  // stripe with most files comes first.
  std::optional<CompactionPlan> compact_stripe(const Layout& layout, const StoreShape& shape, bool stuck,
                                               std::vector<std::string>* trace) const {
    const SelectionLimits limits = selection_.limits(shape, trace);
    const Group* best = nullptr;
    Window window;
    for (const Group& group : layout.groups) {
      SelectionLimits own = limits;
      own.runs_min = least_runs(limits, group.parts.size(), stuck, shape);
      const Window found = explore(group.parts, own, stuck, nullptr);
      say(trace, fmt::format("stripe {}: {} files of {}, {} selected", &group - layout.groups.data(),
                             group.parts.size(), human_bytes(group.bytes), found.count));
      if (found.count == 0) continue;
      const size_t rank = stuck ? group.parts.size() : found.count;
      const size_t most = best == nullptr ? 0 : stuck ? best->parts.size() : window.count;
      if (rank < most || (rank == most && found.bytes >= window.bytes)) continue;
      best = &group;
      window = found;
    }
    if (best == nullptr) return std::nullopt;
    CompactionPlan plan = merge_of(best->parts, window);
    plan.run = best->parts[window.begin].id;
    plan.level = kLevel;
    plan.file_starts = best->starts;
    const bool splits = window.count == best->parts.size() && best->bytes >= split_bytes(shape);
    if (splits) plan.file_bytes = 1 + best->bytes / split_count_;
    plan.why = fmt::format("{} of {} files of a stripe{}", window.count, best->parts.size(),
                           splits ? fmt::format(", which is split in {}", split_count_) : "");
    CELLAR_ASSERT(plan.inputs.size() >= window.count);
    return plan;
  }

  uint64_t stripes_;
  uint64_t level0_min_;
  uint64_t split_bytes_;
  uint64_t split_count_;
  SelectionParams selection_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_stripe, "stripe", Stripe)

}  // namespace cellar
