// tiered: each level holds several runs. When it has `runs` of them, they become one run of the next level.
// Size-tiered compaction, as in Cassandra's STCS and RocksDB's universal compaction.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/tiers.h"

namespace cellar {
namespace {

// Parameters:
// - runs: the number of runs of a level that become one.
// - file_bytes: the size of the files that it writes. 0: a memtable.
// - space_max: all runs become one when the younger ones have more than this percentage of the oldest one's
//   bytes. 0: never.
class Tiered final : public CompactionPolicy {
 public:
  explicit Tiered(const PluginParams& params)
      : runs_(params.count_within("runs", 4, 2, 1000)),
        file_bytes_(params.bytes("file_bytes", 0)),
        space_max_(params.count_within("space_max", 0, 0, 1'000'000)) {}

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const Tiers tiers(shape, [](const SortedRun& run) { return run.level; });
    if (auto plan = merge_all(tiers, shape, trace)) return plan;
    if (auto plan = merge_level(tiers, shape, trace)) return plan;
    if (!tiers.stuck()) return std::nullopt;
    const Runs pair = youngest_pair(tiers.runs());
    if (pair.empty()) return std::nullopt;
    return merge_of(pair, std::max(pair.front().level, pair.back().level), file_bytes(shape),
                    fmt::format("writers wait at {} runs: the two youngest become one", shape.files_stop));
  }

  // The first level of which a single run holds the store.
  CompactionPlan major_output(const StoreShape& shape) const override {
    return {.level = level_of_all(shape), .file_bytes = file_bytes(shape)};
  }

  // A level may have `runs_` runs that wait for their compaction.
  uint64_t debt_bytes(const StoreShape& shape) const override {
    const Tiers tiers(shape, [](const SortedRun& run) { return run.level; });
    uint64_t debt = 0;
    for (const Tier& tier : tiers.youngest_first()) debt += bytes_beyond(idle_part(tier.runs), runs_);
    return debt;
  }

 private:
  uint64_t file_bytes(const StoreShape& shape) const { return file_bytes_of(file_bytes_, shape); }
  uint32_t level_of_all(const StoreShape& shape) const {
    return level_that_holds(static_cast<double>(bytes_of(shape.files)), shape.flush_bytes,
                            static_cast<double>(runs_));
  }

  // All younger runs together may hold rows that supersede those of the oldest run. As in RocksDB's universal
  // compaction, they do not matter before there are as many runs as a level has.
  std::optional<CompactionPlan> merge_all(const Tiers& tiers, const StoreShape& shape,
                                          std::vector<std::string>* trace) const {
    const Runs runs = tiers.runs();
    if (space_max_ == 0 || runs.size() < runs_) return std::nullopt;
    const double percent = 100 * static_cast<double>(bytes_of(runs.subspan(1))) /
                           static_cast<double>(std::max<uint64_t>(1, runs.front().bytes));
    say(trace, fmt::format("the younger runs have {:.0f} % of the oldest one's bytes", percent));
    if (percent <= static_cast<double>(space_max_) || idle_part(runs).size() < runs.size())
      return std::nullopt;
    return merge_of(runs, level_of_all(shape), file_bytes(shape),
                    fmt::format("the younger runs have {:.0f} % of the oldest one's bytes", percent));
  }

  // The youngest level that has enough runs becomes one run. If writers would wait, two are enough.
  std::optional<CompactionPlan> merge_level(const Tiers& tiers, const StoreShape& shape,
                                            std::vector<std::string>* trace) const {
    const size_t enough = tiers.stuck() ? 2 : runs_;
    for (const Tier& tier : tiers.youngest_first()) {
      const Runs part = idle_part(tier.runs);
      CELLAR_ASSERT(part.size() <= tier.runs.size());
      say(trace, fmt::format("level {}: {} runs, {}; {} are not busy, {} become one", tier.level,
                             tier.runs.size(), human_bytes(bytes_of(tier.runs)), part.size(), enough));
      if (part.size() < enough) continue;
      const uint32_t level = next_level(tier.level);
      if (auto plan = join_apart(part, level)) return plan;
      return merge_with_small(part, level, tiers, shape,
                              fmt::format("level {} has {} runs", tier.level, part.size()));
    }
    return std::nullopt;
  }

  // Runs that supersede each other do not grow, so each level would hold them again. An older run that is at
  // most half as large as the inputs together is such a run, and joins them.
  CompactionPlan merge_with_small(Runs part, uint32_t level, const Tiers& tiers, const StoreShape& shape,
                                  std::string why) const {
    const Runs all = tiers.runs();
    auto begin = static_cast<size_t>(part.data() - all.data());
    const size_t end = begin + part.size();
    CELLAR_ASSERT(end <= all.size());
    uint64_t bytes = bytes_of(part);
    for (; begin > 0 && !all[begin - 1].busy && all[begin - 1].bytes <= bytes / 2; --begin) {
      bytes += all[begin - 1].bytes;
      level = std::max(level, std::min(all[begin - 1].level, kLevelsMax));
    }
    const Runs wider = all.subspan(begin, end - begin);
    if (wider.size() > part.size())
      why += fmt::format(", with {} older ones that are small", wider.size() - part.size());
    return merge_of(wider, level, file_bytes(shape), std::move(why));
  }

  uint64_t runs_;
  uint64_t file_bytes_;
  uint64_t space_max_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_tiered, "tiered", Tiered)

}  // namespace cellar
