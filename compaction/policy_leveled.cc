// leveled: each level is one sorted run, `fanout` times as large as the level above it. Files go down a level
// one by one, into the files there that share rows with them. As in LevelDB and RocksDB. Targets that follow
// the deepest level are RocksDB's level_compaction_dynamic_level_bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/file_choice.h"
#include "compaction/level_triggers.h"
#include "compaction/levels.h"

namespace cellar {
namespace {

constexpr double kUrgent = 2;  // level 0 goes down first from so many times runs_min on

// Parameters:
// - fanout: the size of a level, in sizes of the level above it.
// - base_bytes: the target of level 1, and the largest one if targets are dynamic. 0: four memtables.
// - targets: dynamic: the deepest level sets the targets of the levels above it. They hold little data.
//   fixed: level 1 has base_bytes, each other level `fanout` times the target of the level above.
// - file_bytes: the size of the files that it writes. 0: a memtable.
// - runs_min: the number of runs of level 0 that go down together.
// - pick: which file of a level goes down, see FileChoice.
// - tombstones, tombstone_age: files go down because of their delete markers, see LevelTriggers.
class Leveled final : public CompactionPolicy {
 public:
  explicit Leveled(const PluginParams& params)
      : fanout_(static_cast<double>(params.count_within("fanout", 10, 2, 1000))),
        base_bytes_(params.bytes("base_bytes", 0)),
        dynamic_(params.choice("targets", "dynamic", {"dynamic", "fixed"}) == "dynamic"),
        file_bytes_(params.bytes("file_bytes", 0)),
        runs_min_(params.count_within("runs_min", 4, 1, 1000)),
        choice_(params),
        triggers_(params, fanout_) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const Levels levels(shape.files);
    if (levels.misplaced != nullptr) return mend(levels, shape, trace);
    if (auto plan = pick_by_size(levels, shape, trace)) return plan;
    return pick_by_markers(levels, shape, trace);
  }

  // The deepest level that the store fills.
  CompactionPlan major_output(const StoreShape& shape) const override {
    const auto bytes = static_cast<double>(bytes_of(shape.files));
    uint32_t deepest = 1;
    while (deepest < kLevelsMax && size_of(deepest, shape) < bytes) ++deepest;
    return {.level = deepest, .file_bytes = file_bytes(shape)};
  }

  // Level 0 may have `runs_min` memtables, the others their targets. The deepest level holds the data, so it
  // has no debt.
  uint64_t debt_bytes(const StoreShape& shape) const override {
    const Levels levels(shape.files);
    if (levels.misplaced != nullptr) return 0;
    double young = 0;
    for (const SortedRun& run : levels.young) young += static_cast<double>(run.bytes);
    double debt = std::max(0.0, young - static_cast<double>(runs_min_ * shape.flush_bytes));
    for (uint32_t level = 1; level < levels.deep.size(); ++level)
      if (const SortedRun* run = levels.run_of(level); run != nullptr)
        debt += std::max(0.0, static_cast<double>(run->bytes) - target(level, levels, shape));
    return static_cast<uint64_t>(debt);
  }

 private:
  // Returns what must go down because there is too much of it.
  std::optional<CompactionPlan> pick_by_size(const Levels& levels, const StoreShape& shape,
                                             std::vector<std::string>* trace) const {
    const bool stuck = levels.all.size() >= shape.files_stop;
    const auto runs = static_cast<double>(levels.young.size());
    const double score = stuck && runs > 0 ? kUrgent : runs / static_cast<double>(runs_min_);
    say(trace, fmt::format("level 0: {} runs, they go down from {} on", levels.young.size(), runs_min_));
    // Level 0 makes all reads slower, so it does not wait for deeper levels for long.
    if (score < kUrgent)
      if (auto plan = shrink_fullest(levels, shape, std::max(1.0, score), trace)) return plan;
    if (score < 1) return std::nullopt;
    if (auto plan = empty_level_0(levels, shape, trace)) return plan;
    return shrink_fullest(levels, shape, 1, trace);  // level 1 is busy, but a deeper level may not be
  }

  // Returns what must go down because of its delete markers. In the deepest level they leave when the file is
  // rewritten.
  std::optional<CompactionPlan> pick_by_markers(const Levels& levels, const StoreShape& shape,
                                                std::vector<std::string>* trace) const {
    const std::optional<LevelTriggers::Due> due = triggers_.due(levels, shape, trace);
    if (!due) return std::nullopt;
    const StoreFileInfo& file = *due->file;
    if (file.level == 0) return empty_level_0(levels, shape, trace);
    if (file.level >= levels.deep.size())
      return CompactionPlan{.inputs = {file.id},
                            .why = due->why,
                            .run = file.run,
                            .level = file.level,
                            .file_bytes = file_bytes(shape)};
    FilePointers inputs = {&file};
    for (const StoreFileInfo& below : levels.files_of(file.level + 1))
      if (Rows::of(file).meet(below)) inputs.push_back(&below);
    return down(levels, shape, inputs, file.level, due->why);
  }

  uint64_t file_bytes(const StoreShape& shape) const { return file_bytes_of(file_bytes_, shape); }
  // Returns the fixed target of a level.
  double size_of(uint32_t level, const StoreShape& shape) const {
    CELLAR_ASSERT(level > 0);
    const uint64_t base = base_bytes_ != 0 ? base_bytes_ : 4 * std::max<uint64_t>(1, shape.flush_bytes);
    return static_cast<double>(base) * std::pow(fanout_, level - 1);
  }
  double target(uint32_t level, const Levels& levels, const StoreShape& shape) const {
    const auto deepest = static_cast<uint32_t>(levels.deep.size());
    if (!dynamic_ || level >= deepest) return size_of(level, shape);
    const double above = static_cast<double>(levels.deep.back()->bytes) / std::pow(fanout_, deepest - level);
    // A level of one file is never too large. Else a file that has moved to level 1 would go down at once,
    // alone.
    const double least = 2 * static_cast<double>(file_bytes(shape));
    return std::clamp(above, std::min(least, size_of(level, shape)), size_of(level, shape));
  }

  // Another policy, or other parameters, left runs that are no levels. Neighbours become one until they are.
  std::optional<CompactionPlan> mend(const Levels& levels, const StoreShape& shape,
                                     std::vector<std::string>* trace) const {
    const auto older = static_cast<size_t>(levels.misplaced - levels.all.data());
    CompactionPlan plan{.why = "two runs that are no levels become one"};
    uint32_t level = 1;
    // If all younger runs are of level 0, the run needs only a level.
    const bool alone = older + 1 == levels.all.size() || levels.all[older + 1].level == 0;
    for (size_t i = older; i < std::min(levels.all.size(), alone ? older + 1 : older + 2); ++i) {
      if (levels.all[i].busy) return std::nullopt;
      for (const StoreFileInfo& file : levels.all[i].files) plan.inputs.push_back(file.id);
      level = std::max(level, std::min(levels.all[i].level, kLevelsMax));
    }
    plan.level = level;
    plan.file_bytes = file_bytes(shape);
    say(trace, fmt::format("run {} has level {}, which is not deeper than that of a younger run",
                           levels.misplaced->id, levels.misplaced->level));
    return plan;
  }

  // All runs of level 0 go into level 1.
  std::optional<CompactionPlan> empty_level_0(const Levels& levels, const StoreShape& shape,
                                              std::vector<std::string>* trace) const {
    if (auto plan = move_oldest(levels)) return plan;
    FilePointers inputs;
    for (const SortedRun& run : levels.young)
      for (const StoreFileInfo& file : run.files) inputs.push_back(&file);
    const Rows rows = Rows::of(inputs);
    const size_t from_level_0 = inputs.size();
    for (const StoreFileInfo& file : levels.files_of(1))
      if (rows.meet(file)) inputs.push_back(&file);
    if (std::ranges::any_of(inputs, &StoreFileInfo::busy)) return merge_newest(levels, shape, trace);
    return down(levels, shape, inputs, 0,
                fmt::format("{} runs of level 0, with {} files of level 1", levels.young.size(),
                            inputs.size() - from_level_0));
  }

  // The oldest run of level 0 may share no rows with level 1: then it goes down as it is.
  std::optional<CompactionPlan> move_oldest(const Levels& levels) const {
    const SortedRun& oldest = levels.young.front();
    const SortedRun* below = levels.run_of(1);
    if (oldest.busy) return std::nullopt;
    const Rows rows = Rows::of(pointers_to(oldest.files));
    for (const StoreFileInfo& file : levels.files_of(1))
      if (rows.meet(file)) return std::nullopt;
    CompactionPlan plan{.why = "level 1 has none of its rows", .move = true};
    for (const StoreFileInfo& file : oldest.files) plan.inputs.push_back(file.id);
    plan.run = below != nullptr ? below->id : 0;
    plan.level = 1;
    return plan;
  }

  // A compaction keeps level 0 from going down. If there are half as many runs as make writers wait, those
  // that are younger than its inputs become one.
  std::optional<CompactionPlan> merge_newest(const Levels& levels, const StoreShape& shape,
                                             std::vector<std::string>* trace) const {
    size_t begin = 0;
    for (size_t i = 0; i < levels.young.size(); ++i)
      if (levels.young[i].busy) begin = i + 1;
    const size_t count = levels.young.size() - begin;
    say(trace, fmt::format("level 1 is busy: {} runs of level 0 may become one", count));
    if (count < std::max<uint64_t>(2, runs_min_) || 2 * levels.all.size() < shape.files_stop)
      return std::nullopt;
    CompactionPlan plan{.why = fmt::format("{} runs of level 0, because level 1 is busy", count)};
    for (size_t i = begin; i < levels.young.size(); ++i)
      for (const StoreFileInfo& file : levels.young[i].files) plan.inputs.push_back(file.id);
    return plan;
  }

  // The level that is largest in proportion to its target gives files to the next one, if that is more than
  // `most` times its target.
  std::optional<CompactionPlan> shrink_fullest(const Levels& levels, const StoreShape& shape, double most,
                                               std::vector<std::string>* trace) const {
    uint32_t fullest = 0;
    FilePointers inputs;
    for (uint32_t level = 1; level <= levels.deep.size() && level < kLevelsMax; ++level) {
      const SortedRun* run = levels.run_of(level);
      if (run == nullptr) continue;
      const double score = static_cast<double>(free_bytes(run->files)) / target(level, levels, shape);
      say(trace,
          fmt::format("level {}: {} of {}, {} files", level, human_bytes(run->bytes),
                      human_bytes(static_cast<uint64_t>(target(level, levels, shape))), run->files.size()));
      if (score <= most) continue;
      // The whole run moves, or its first file makes a new one.
      if (run->busy && levels.run_of(level + 1) == nullptr) continue;
      FilePointers chosen =
          choice_.chosen(run->files, levels.files_of(level + 1), levels.files_of(level + 2), trace);
      if (chosen.empty()) continue;
      most = score;
      fullest = level;
      inputs = std::move(chosen);
    }
    if (fullest == 0) return std::nullopt;
    if (dynamic_ && fullest == levels.deep.size()) return deepen(levels, fullest, most);
    const Rows rows = Rows::of(inputs);
    const size_t own = inputs.size();
    for (const StoreFileInfo& file : levels.files_of(fullest + 1))
      if (rows.meet(file)) inputs.push_back(&file);
    return down(levels, shape, inputs, fullest,
                fmt::format("level {} is {:.1f} times its target: {} files, with {} of level {}", fullest,
                            most, own, inputs.size() - own, fullest + 1));
  }

  // Returns the size of the files that are not busy: a running compaction may take the others down.
  static uint64_t free_bytes(Files files) {
    uint64_t bytes = 0;
    for (const StoreFileInfo& file : files)
      if (!file.busy) bytes += file.bytes;
    return bytes;
  }

  // The deepest level becomes one deeper, so that there is a level more between it and level 0.
  static CompactionPlan deepen(const Levels& levels, uint32_t level, double score) {
    CompactionPlan plan{.why =
                            fmt::format("the deepest level, {}, is {:.1f} times its target", level, score)};
    for (const StoreFileInfo& file : levels.files_of(level)) plan.inputs.push_back(file.id);
    plan.level = level + 1;
    plan.move = true;
    return plan;
  }

  // The inputs, of `level` and of the next one, go to the next one.
  std::optional<CompactionPlan> down(const Levels& levels, const StoreShape& shape,
                                     const FilePointers& inputs, uint32_t level, std::string why) const {
    const SortedRun* next = levels.run_of(level + 1);
    CompactionPlan plan{.why = std::move(why)};
    for (const StoreFileInfo* file : inputs) plan.inputs.push_back(file->id);
    plan.run = next != nullptr ? next->id : 0;
    plan.level = level + 1;
    plan.move = level > 0 && std::ranges::none_of(
                                 inputs, [&](const StoreFileInfo* file) { return file->level == level + 1; });
    if (plan.move) return plan;
    plan.file_bytes = file_bytes(shape);
    plan.file_starts = starts(levels.files_of(level + 2), Rows::of(inputs), shape);
    return plan;
  }

  // Ends output files where they would share rows with too much of the level below the output. Such a file
  // would cost too much when it goes down itself.
  std::vector<std::string> starts(Files below, const Rows& rows, const StoreShape& shape) const {
    std::vector<std::string> result;
    const double most = fanout_ * static_cast<double>(file_bytes(shape));
    uint64_t bytes = 0;
    for (const StoreFileInfo& file : below) {
      if (!rows.meet(file)) continue;
      if (static_cast<double>(bytes) >= most) {
        result.push_back(file.first_row);
        bytes = 0;
      }
      bytes += file.bytes;
    }
    return result;
  }

  double fanout_;
  uint64_t base_bytes_;
  bool dynamic_;
  uint64_t file_bytes_;
  uint64_t runs_min_;
  FileChoice choice_;
  LevelTriggers triggers_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_leveled, "leveled", Leveled)

}  // namespace cellar
