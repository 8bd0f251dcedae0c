// unified: levels by the size of runs, each with its own scaling parameter. One number chooses between tiers
// and levels. The facts are those of Cassandra's Unified Compaction Strategy (CEP-26).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/assert.h"
#include "base/bytes.h"
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"
#include "compaction/tiers.h"

namespace cellar {
namespace {

// Scaling: how a level behaves. T4 merges four runs of a level, L10 merges two, and a level has room for ten.
struct Scaling {
  double fanout = 2;
  uint64_t runs = 2;

  // Parses "T4", "L10", "N", or W as a number: T is 2 + W, L is 2 - W. Returns nothing for other texts.
  static std::optional<Scaling> parse(std::string_view text) {
    constexpr int kMost = 1000;
    if (text == "N") return Scaling();
    const bool tiered = text.starts_with('T');
    const bool leveled = text.starts_with('L');
    if (tiered || leveled) text.remove_prefix(1);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (number > kMost || number < (tiered || leveled ? 2 : -kMost)) return std::nullopt;
    if (!tiered && !leveled) return of(number);
    return of(tiered ? number - 2 : 2 - number);
  }
  static Scaling of(int w) {
    CELLAR_ASSERT(w > -10'000 && w < 10'000);
    return w < 0 ? Scaling{2.0 - w, 2} : Scaling{2.0 + w, static_cast<uint64_t>(2 + w)};
  }
};

// Parameters:
// - scaling: the scaling parameters of the levels from level 0 on; the last one is that of all others, too.
// - base_bytes: the size of the runs of level 0. 0: a memtable.
// - file_bytes: the size of the files that it writes. 0: a memtable.
class Unified final : public CompactionPolicy {
 public:
  explicit Unified(const PluginParams& params)
      : base_bytes_(params.bytes("base_bytes", 0)), file_bytes_(params.bytes("file_bytes", 0)) {
    for (const std::string& text : params.list("scaling", "T4")) {
      const std::optional<Scaling> scaling = Scaling::parse(text);
      if (!scaling) params.complain("scaling", "a list of T4, L10, N or numbers from -1000 to 1000");
      scalings_.push_back(scaling.value_or(Scaling()));
    }
  }

  std::optional<CompactionPlan> pick(const StoreShape& shape,
                                     std::vector<std::string>* trace) const override {
    const Tiers tiers(shape, [&](const SortedRun& run) { return level_of(run.bytes, shape); });
    if (auto plan = merge_fullest(tiers, shape, trace)) return plan;
    if (!tiers.stuck()) return std::nullopt;
    const Runs pair = youngest_pair(tiers.runs());
    if (pair.empty()) return std::nullopt;
    return merged(pair, shape,
                  fmt::format("writers wait at {} runs: the two youngest become one", shape.files_stop));
  }

  CompactionPlan major_output(const StoreShape& shape) const override {
    return {.level = label_of(bytes_of(shape.files), shape), .file_bytes = file_bytes(shape)};
  }

  // A level may have as many runs that wait for their compaction as start one.
  uint64_t debt_bytes(const StoreShape& shape) const override {
    const Tiers tiers(shape, [&](const SortedRun& run) { return level_of(run.bytes, shape); });
    uint64_t debt = 0;
    for (const Tier& tier : tiers.youngest_first())
      debt += bytes_beyond(idle_part(tier.runs), scaling_of(tier.level).runs);
    return debt;
  }

 private:
  uint64_t file_bytes(const StoreShape& shape) const { return file_bytes_of(file_bytes_, shape); }
  const Scaling& scaling_of(uint32_t level) const {
    CELLAR_ASSERT(!scalings_.empty());
    return scalings_[std::min<size_t>(level, scalings_.size() - 1)];
  }
  // Returns the level of a run of so many bytes. Level 0 ends at fanout times the size of its runs, each
  // deeper level at its own fanout times the end of the level above.
  uint32_t level_of(uint64_t bytes, const StoreShape& shape) const {
    uint32_t level = 0;
    auto end = static_cast<double>(std::max<uint64_t>(1, base_bytes_ != 0 ? base_bytes_ : shape.flush_bytes));
    for (end *= scaling_of(0).fanout; level + 1 < kLevelsMax && end <= static_cast<double>(bytes); ++level)
      end *= scaling_of(level + 1).fanout;
    return level;
  }
  // Returns the label of a run that the policy writes. It is only for people, and not 0 as those of flushes.
  uint32_t label_of(uint64_t bytes, const StoreShape& shape) const { return level_of(bytes, shape) + 1; }

  // The level with most runs is merged, if they are as many as start a compaction. Among equals, that is the
  // youngest. If writers would wait, two are enough.
  std::optional<CompactionPlan> merge_fullest(const Tiers& tiers, const StoreShape& shape,
                                              std::vector<std::string>* trace) const {
    Runs fullest;
    uint32_t level = 0;
    for (const Tier& tier : tiers.youngest_first()) {
      const Runs part = idle_part(tier.runs);
      const uint64_t enough = tiers.stuck() ? 2 : scaling_of(tier.level).runs;
      say(trace, fmt::format("level {}: {} runs, {}; {} are not busy, {} become one", tier.level,
                             tier.runs.size(), human_bytes(bytes_of(tier.runs)), part.size(), enough));
      if (part.size() < enough || part.size() <= fullest.size()) continue;
      fullest = part;
      level = tier.level;
    }
    if (fullest.empty()) return std::nullopt;
    if (auto plan = join_apart(fullest, label_of(bytes_of(fullest), shape))) return plan;
    return merged(fullest, shape, fmt::format("level {} has {} runs", level, fullest.size()));
  }

  // The younger runs go into the oldest one. If that is a flush, or shares rows in all its files, all become
  // a new run.
  CompactionPlan merged(Runs runs, const StoreShape& shape, std::string why) const {
    CELLAR_ASSERT(runs.size() > 1);
    if (runs.front().level > 0) {
      CompactionPlan plan = merge_into(runs.front(), runs.subspan(1), file_bytes(shape), why);
      size_t all = 0;
      for (const SortedRun& run : runs) all += run.files.size();
      if (plan.inputs.size() < all) return plan;
    }
    return merge_of(runs, label_of(bytes_of(runs), shape), file_bytes(shape), std::move(why));
  }

  std::vector<Scaling> scalings_;
  uint64_t base_bytes_;
  uint64_t file_bytes_;
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_unified, "unified", Unified)

}  // namespace cellar
