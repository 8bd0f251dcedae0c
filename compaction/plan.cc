// Compaction plans: positions of files among the runs, and what may pass what.
#include "compaction/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/assert.h"
#include "base/bytes.h"
#include "compaction/sorted_runs.h"
#include "compaction/triggers.h"

namespace cellar {
namespace {

template <class... Arguments>
Status refused(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return Status::invalid_argument(fmt::format(format, std::forward<Arguments>(arguments)...));
}

bool share_rows(const StoreFileInfo& a, const StoreFileInfo& b) {
  return a.first_row <= b.last_row && b.first_row <= a.last_row;
}

bool has_expired(const StoreFileInfo& file, const StoreShape& shape) {
  return file.time_max < shape.erase_before_ms;
}

// The files of a plan among the runs of its shape.
class PlacedPlan {
 public:
  PlacedPlan(const CompactionPlan& plan, const StoreShape& shape)
      : plan_(plan), shape_(shape), runs_(sorted_runs(shape.files)) {}

  // Finds the inputs and the output's run. The other functions need it.
  Status find() {
    std::unordered_set<uint64_t> wanted(plan_.inputs.begin(), plan_.inputs.end());
    if (wanted.size() != plan_.inputs.size()) return refused("the plan names a file twice");
    for (size_t run = 0; run < runs_.size(); ++run)
      for (const StoreFileInfo& file : runs_[run].files) {
        const bool input = wanted.erase(file.id) != 0;
        if (input && file.busy) return refused("the plan names file {}, which is being compacted", file.id);
        (input ? inputs_ : others_).push_back({&file, run});
      }
    if (!wanted.empty())
      return refused("the plan names file {}, which the store does not have", *wanted.begin());
    if (inputs_.empty()) return refused("plan of 0 files: it gains nothing");
    return find_output();
  }

  // See CompactionPolicy::pick().
  Status check_ages() const {
    for (const Placed& input : inputs_)
      for (const Placed& other : others_) {
        if (other.run == input.run || !share_rows(*input.file, *other.file)) continue;
        const bool was_older = other.run < input.run;
        // The files that are left of the oldest input's run stay younger than a new run.
        if (was_older != (other.run < output_))
          return refused("plan is not contiguous in age: file {} would pass file {}, which has the same rows",
                         input.file->id, other.file->id);
      }
    return {};
  }

  Status check_output() const {
    if (!std::ranges::is_sorted(plan_.file_starts)) return refused("the starts of files do not ascend");
    if (plan_.run == 0) return {};
    const SortedRun& run = runs_[output_];
    if (run.level == 0 || run.level != plan_.level)
      return refused("the plan adds files of level {} to run {}, which has level {}", plan_.level, run.id,
                     run.level);
    for (const Placed& other : others_)
      if (other.run == output_ && other.file->first_row <= last_row() && other.file->last_row >= first_row())
        return refused("the plan adds rows on both sides of file {} to its run", other.file->id);
    return {};
  }

  Status check_move() const {
    const size_t run = inputs_.front().run;
    const bool one_run = std::ranges::all_of(inputs_, [&](const Placed& each) { return each.run == run; });
    if (!one_run) return refused("the plan moves files of several runs");
    if (plan_.level == 0) return refused("the plan moves files to level 0");
    if (plan_.run != 0 && run == output_) return refused("the plan moves files to the run that has them");
    return {};
  }

  // Nothing that the inputs hide may show.
  Status check_drop() const {
    if (plan_.run != 0 || plan_.level != 0 || plan_.file_bytes != 0 || !plan_.file_starts.empty() ||
        plan_.move)
      return refused("the plan drops files and says where they go");
    for (const Placed& input : inputs_)
      CELLAR_TRY(plan_.drop_live ? check_live(input) : check_expired(*input.file));
    return {};
  }

  bool gains() const {
    return inputs_.size() > 1 || plan_.run != 0 || plan_.file_bytes != 0 || !plan_.file_starts.empty() ||
           plan_.level != inputs_.front().file->level || expired_part(*inputs_.front().file, shape_) > 0;
  }

 private:
  struct Placed {
    const StoreFileInfo* file;
    size_t run;  // index, 0 is the oldest
  };

  Status check_expired(const StoreFileInfo& file) const {
    if (has_expired(file, shape_)) return {};
    return refused(
        "the plan drops file {}, whose newest cell has the timestamp {}: only cells before {} have "
        "expired",
        file.id, file.time_max, shape_.erase_before_ms);
  }

  // A version may hide older ones by its timestamp or by its age, and a marker also those of its time.
  Status check_live(const Placed& input) const {
    const StoreFileInfo& file = *input.file;
    const auto hides = [&](int64_t put) {
      return put < file.time_max || (put == file.time_max && file.deletes > 0);
    };
    if (hides(shape_.earliest_in_memory))
      return refused("the plan drops file {}, but older puts are in memory: they would show", file.id);
    for (const Placed& other : others_) {
      if (!share_rows(file, *other.file)) continue;
      if (other.run < input.run)
        return refused("the plan drops file {}, but the older file {} has the same rows: it would show",
                       file.id, other.file->id);
      if (hides(other.file->earliest_put))
        return refused("the plan drops file {}, but file {} has older puts in the same rows: they would show",
                       file.id, other.file->id);
    }
    return {};
  }

  Status find_output() {
    output_ = inputs_.front().run;  // the oldest
    CELLAR_ASSERT(std::ranges::is_sorted(inputs_, {}, &Placed::run));
    if (plan_.run == 0) return {};
    const auto run = std::ranges::find(runs_, plan_.run, &SortedRun::id);
    if (run == runs_.end())
      return refused("the plan adds files to run {}, which the store does not have", plan_.run);
    output_ = static_cast<size_t>(run - runs_.begin());
    if (output_ > inputs_.front().run)
      return refused("the plan adds files to run {}, which is younger than an input", plan_.run);
    return {};
  }

  std::string_view first_row() const {
    const auto first = [](const Placed& each) -> std::string_view { return each.file->first_row; };
    return std::ranges::min(inputs_, {}, first).file->first_row;
  }
  std::string_view last_row() const {
    const auto last = [](const Placed& each) -> std::string_view { return each.file->last_row; };
    return std::ranges::max(inputs_, {}, last).file->last_row;
  }

  const CompactionPlan& plan_;
  const StoreShape& shape_;
  const std::vector<SortedRun> runs_;
  std::vector<Placed> inputs_;
  std::vector<Placed> others_;
  size_t output_ = 0;
};

}  // namespace

Status check_plan(const CompactionPlan& plan, const StoreShape& shape, bool may_rewrite_one) {
  PlacedPlan placed(plan, shape);
  CELLAR_TRY(placed.find());
  if (plan.drop) return placed.check_drop();
  if (plan.drop_live) return refused("the plan loses live cells and drops no files");
  if (!may_rewrite_one && !placed.gains())
    return refused("plan of {} files: it gains nothing", plan.inputs.size());
  CELLAR_TRY(placed.check_ages());
  CELLAR_TRY(placed.check_output());
  return plan.move ? placed.check_move() : Status();
}

std::optional<CompactionPlan> major_plan(const CompactionPolicy& policy, const StoreShape& shape,
                                         bool forced) {
  const bool done =
      std::ranges::all_of(shape.files, &StoreFileInfo::major) && runs_of(shape.files).size() <= 1;
  if (shape.files.empty() || (!forced && done)) return std::nullopt;
  CompactionPlan plan = policy.major_output(shape);
  plan.inputs.clear();  // a policy may have filled what it should not
  plan.run = 0;
  plan.move = false;
  plan.drop = plan.drop_live = false;
  plan.why = "major compaction";
  for (const StoreFileInfo& file : shape.files) {
    if (file.busy) return std::nullopt;
    plan.inputs.push_back(file.id);
  }
  return plan;
}

std::optional<CompactionPlan> expired_plan(const StoreShape& shape) {
  CompactionPlan plan{.why = "all cells have expired", .drop = true};
  for (const StoreFileInfo& file : shape.files)
    if (!file.busy && has_expired(file, shape)) plan.inputs.push_back(file.id);
  CELLAR_ASSERT(plan.inputs.size() <= shape.files.size());
  if (plan.inputs.empty()) return std::nullopt;
  return plan;
}

std::string to_text(const CompactionPlan& plan, const StoreShape& shape) {
  uint64_t bytes = 0;
  const std::unordered_set<uint64_t> inputs(plan.inputs.begin(), plan.inputs.end());
  for (const StoreFileInfo& file : shape.files)
    if (inputs.contains(file.id)) bytes += file.bytes;
  return fmt::format("{} of {} files, {}: {}", plan.inputs.size(), shape.files.size(), human_bytes(bytes),
                     plan.why);
}

}  // namespace cellar
