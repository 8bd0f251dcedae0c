// Tiers: groups of neighbours in age, and the plans that make one run of several.
#include "compaction/tiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace cellar {
namespace {

void add_files(CompactionPlan& plan, Files files) {
  for (const StoreFileInfo& file : files) plan.inputs.push_back(file.id);
}

// Returns true if no file of `older` has rows between the first and the last row of `younger`.
bool lies_apart(const SortedRun& younger, const SortedRun& older) {
  const Rows rows = Rows::of(pointers_to(younger.files));
  return std::ranges::none_of(older.files, [&](const StoreFileInfo& file) { return rows.meet(file); });
}

bool all_idle(Runs runs) { return std::ranges::none_of(runs, &SortedRun::busy); }

}  // namespace

Tiers::Tiers(const StoreShape& shape, const std::function<uint32_t(const SortedRun&)>& level_of)
    : runs_(sorted_runs(shape.files)), stuck_(runs_.size() >= shape.files_stop) {
  uint32_t level = 0;
  const Runs all(runs_);
  for (size_t end = all.size(); end > 0;) {
    level = std::max(level, level_of(all[end - 1]));
    size_t begin = end - 1;
    while (begin > 0 && level_of(all[begin - 1]) <= level) --begin;
    CELLAR_ASSERT(tiers_.empty() || tiers_.back().level < level);
    tiers_.push_back({level, all.subspan(begin, end - begin)});
    end = begin;
  }
}

Runs idle_part(Runs runs) {
  Runs longest;
  for (size_t begin = 0; begin < runs.size();) {
    size_t end = begin;
    while (end < runs.size() && !runs[end].busy) ++end;
    if (end - begin > longest.size()) longest = runs.subspan(begin, end - begin);
    begin = end + 1;
  }
  CELLAR_ASSERT(all_idle(longest));
  return longest;
}

Runs youngest_pair(Runs runs) {
  for (size_t end = runs.size(); end >= 2; --end)
    if (const Runs pair = runs.subspan(end - 2, 2); all_idle(pair)) return pair;
  return {};
}

uint64_t bytes_beyond(Runs runs, uint64_t most) {
  return runs.size() <= most ? 0 : bytes_of(runs.subspan(most));
}

uint32_t next_level(uint32_t level) { return std::min(level + 1, kLevelsMax); }

uint32_t level_that_holds(double bytes, uint64_t flush_bytes, double fanout) {
  CELLAR_ASSERT(fanout > 1);
  uint32_t level = 1;
  double room = static_cast<double>(std::max<uint64_t>(1, flush_bytes)) * fanout;
  for (; level < kLevelsMax && room < bytes; ++level) room *= fanout;
  return level;
}

CompactionPlan merge_of(Runs runs, uint32_t level, uint64_t file_bytes, std::string why) {
  CELLAR_ASSERT(!runs.empty() && all_idle(runs));
  CompactionPlan plan{.why = std::move(why)};
  for (const SortedRun& run : runs) add_files(plan, run.files);
  plan.level = level;
  plan.file_bytes = file_bytes;
  return plan;
}

CompactionPlan merge_into(const SortedRun& oldest, Runs younger, uint64_t file_bytes, std::string why) {
  CELLAR_ASSERT(oldest.level > 0 && !oldest.busy && !younger.empty() && all_idle(younger));
  CompactionPlan plan{.why = std::move(why), .run = oldest.id, .level = oldest.level};
  FilePointers files;
  for (const SortedRun& run : younger) {
    add_files(plan, run.files);
    std::ranges::copy(pointers_to(run.files), std::back_inserter(files));
  }
  const size_t own = plan.inputs.size();
  const Rows rows = Rows::of(files);
  for (const StoreFileInfo& file : oldest.files)
    if (rows.meet(file)) plan.inputs.push_back(file.id);
  plan.move = younger.size() == 1 && plan.inputs.size() == own;
  if (!plan.move) plan.file_bytes = file_bytes;
  return plan;
}

std::optional<CompactionPlan> join_apart(Runs runs, uint32_t level) {
  CELLAR_ASSERT(level > 0 && all_idle(runs));
  if (runs.size() < 2) return std::nullopt;
  for (size_t younger = 1; younger < runs.size(); ++younger)
    for (size_t older = 0; older < younger; ++older)
      if (!lies_apart(runs[younger], runs[older])) return std::nullopt;
  const std::string why = fmt::format("{} runs share no rows", runs.size());
  CompactionPlan plan{.why = why, .level = level, .move = true};
  if (runs.front().level != 0) plan = merge_into(runs.front(), runs.subspan(1, 1), 0, why);
  if (runs.front().level == 0) add_files(plan, runs.front().files);
  CELLAR_ASSERT(plan.move && !plan.inputs.empty());
  return plan;
}

}  // namespace cellar
