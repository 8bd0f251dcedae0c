// lazy_leveled: the deepest level is one run, all levels above it hold several runs. Lazy leveling, from
// "Dostoevsky" (Dayan and Idreos, SIGMOD 2018).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/tiers.h"

namespace cellar {
namespace {

// Parameters:
// - runs: the number of runs of a level that become one. Also the size of a level, in sizes of the level
//   above it.
// - file_bytes: the size of the files that it writes. 0: a memtable.
class LazyLeveled final : public CompactionPolicy {
 public:
  explicit LazyLeveled(const PluginParams& params)
      : runs_(params.count_within("runs", 4, 2, 1000)), file_bytes_(params.bytes("file_bytes", 0)) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const Tiers tiers(shape, [](const SortedRun& run) { return run.level; });
    if (auto plan = tend_deepest(tiers, shape, trace)) return plan;
    for (const Tier& tier : tiers.youngest_first())
      if (auto plan = lower(tier, tiers, shape, trace)) return plan;
    if (!tiers.stuck()) return std::nullopt;
    const Runs pair = youngest_pair(tiers.runs());
    if (pair.empty()) return std::nullopt;
    const std::string why =
        fmt::format("writers wait at {} runs: the two youngest become one", shape.files_stop);
    if (pair.front().level > 0) return merge_into(pair.front(), pair.subspan(1), file_bytes(shape), why);
    return merge_of(pair, pair.back().level, file_bytes(shape), why);
  }

  // The first level of which a single run holds the store.
  CompactionPlan major_output(const StoreShape& shape) const override {
    return {.level = deepest_for(bytes_of(shape.files), shape), .file_bytes = file_bytes(shape)};
  }

  // A level above the deepest one may have `runs_` runs that wait for their compaction.
  uint64_t debt_bytes(const StoreShape& shape) const override {
    const Tiers tiers(shape, [](const SortedRun& run) { return run.level; });
    uint64_t debt = 0;
    for (const Tier& tier : tiers.youngest_first())
      if (tier.level == 0 || tier.level != deepest_of(tiers))
        debt += bytes_beyond(idle_part(tier.runs), runs_);
    return debt;
  }

 private:
  uint64_t file_bytes(const StoreShape& shape) const { return file_bytes_of(file_bytes_, shape); }

  // Returns the deepest level, or 0 if there are only flushes: then no level is a single run.
  static uint32_t deepest_of(const Tiers& tiers) {
    return tiers.youngest_first().empty() ? 0 : tiers.youngest_first().back().level;
  }
  // Returns the first level of which a single run may have so many bytes. A level has `runs_` times the runs
  // of the level above it, and the deepest one has them in one run.
  uint32_t deepest_for(uint64_t bytes, const StoreShape& shape) const {
    const auto fanout = static_cast<double>(runs_);
    return level_that_holds(static_cast<double>(bytes) / fanout, shape.flush_bytes, fanout);
  }

  // Makes the deepest level a single run that fits its level.
  std::optional<CompactionPlan> tend_deepest(const Tiers& tiers, const StoreShape& shape,
                                             std::vector<std::string>* trace) const {
    const uint32_t level = deepest_of(tiers);
    if (level == 0) return std::nullopt;
    const Runs runs = tiers.youngest_first().back().runs;
    const uint32_t fits = deepest_for(bytes_of(runs), shape);
    say(trace, fmt::format("level {}, the deepest: {} runs, {}, which fit level {}", level, runs.size(),
                           human_bytes(bytes_of(runs)), fits));
    if (idle_part(runs).size() < runs.size()) return std::nullopt;
    if (runs.size() > 1)
      return merge_of(runs, std::min(level, kLevelsMax), file_bytes(shape),
                      fmt::format("the deepest level, {}, has {} runs", level, runs.size()));
    if (fits <= level) return std::nullopt;
    CompactionPlan plan =
        merge_of(runs, fits, 0,
                 fmt::format("the deepest level, {}, has grown to {}", level, human_bytes(runs[0].bytes)));
    plan.move = true;
    return plan;
  }

  // A level that has enough runs gives them to the next one. If writers would wait, two are enough.
  std::optional<CompactionPlan> lower(const Tier& tier, const Tiers& tiers, const StoreShape& shape,
                                      std::vector<std::string>* trace) const {
    const uint32_t deepest = deepest_of(tiers);
    if (tier.level != 0 && tier.level == deepest) return std::nullopt;
    const size_t enough = tiers.stuck() ? 2 : runs_;
    const Runs part = idle_part(tier.runs);
    say(trace, fmt::format("level {}: {} runs, {}; {} are not busy, {} become one", tier.level,
                           tier.runs.size(), human_bytes(bytes_of(tier.runs)), part.size(), enough));
    if (part.size() < enough) return std::nullopt;
    if (tier.level + 1 == deepest) return lower_to_deepest(tier, part, tiers, shape, trace);
    const uint32_t level = next_level(tier.level);
    if (auto plan = join_apart(part, level)) return plan;
    return merge_of(part, level, file_bytes(shape),
                    fmt::format("level {} has {} runs", tier.level, part.size()));
  }

  // The runs go into the files of the deepest level that share rows with them.
  std::optional<CompactionPlan> lower_to_deepest(const Tier& tier, Runs part, const Tiers& tiers,
                                                 const StoreShape& shape,
                                                 std::vector<std::string>* trace) const {
    const Runs below = tiers.youngest_first().back().runs;
    CELLAR_ASSERT(!below.empty() && !part.empty());
    const std::string why = fmt::format("level {} has {} runs", tier.level, part.size());
    // A run that stays in the level must not be passed, nor can files join a run that is being written.
    if (below.size() == 1 && !below.front().busy && part.data() == tier.runs.data()) {
      const SortedRun& deepest = below.front();
      if (auto first = merge_into(deepest, part.first(1), 0, why); first.move) return first;
      return merge_into(deepest, part, file_bytes(shape), why);
    }
    say(trace, fmt::format("the way to level {} is busy", tier.level + 1));
    if (!tiers.stuck()) return std::nullopt;
    return merge_of(part, tier.level, file_bytes(shape), why + ", and the next one is busy");
  }

  uint64_t runs_;
  uint64_t file_bytes_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_lazy_leveled, "lazy_leveled", LazyLeveled)

}  // namespace cellar
