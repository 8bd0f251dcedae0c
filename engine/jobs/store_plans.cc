// Plans of a store: the interval of major compactions, the tallies of scans, and then the policy.
#include "engine/jobs/store_plans.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"
#include "compaction/plan.h"
#include "compaction/scan_plan.h"

namespace cellar {
namespace {

int64_t major_interval_ms(const EngineOptions& engine, const FamilyOptions& family) {
  return family.major_compaction_interval_ms >= 0 ? family.major_compaction_interval_ms
                                                  : engine.major_compaction_interval_s * 1000;
}

// Returns the interval, shorter or longer by up to so many percent. The name of the family's oldest file says
// by how much. So families that were written at the same time are not due together. A store that is opened
// again asks for the same.
int64_t with_jitter(int64_t interval_ms, uint32_t percent, std::string_view file) {
  CELLAR_ASSERT(percent <= 100 && interval_ms >= 0);
  const double jitter_ms = static_cast<double>(interval_ms) * percent / 100;
  const double place = static_cast<double>(hash64(file) >> 11) * 0x1p-53;  // from 0 to 1
  const double result = static_cast<double>(interval_ms) + jitter_ms * (1 - 2 * place);
  return percent == 0 || result >= 0x1p63 ? interval_ms : static_cast<int64_t>(result);
}

// A file that a wrong clock dated far ahead is due, too: by the right clock it would not be for years.
bool is_due(int64_t created_ms, int64_t now_ms, int64_t interval_ms) {
  int64_t age_ms = 0;
  return __builtin_sub_overflow(now_ms, created_ms, &age_ms) || age_ms > interval_ms || age_ms < -interval_ms;
}

}  // namespace

bool may_compact_for_scans(const StoreView& view) {
  CELLAR_ASSERT(view.config != nullptr);
  const FamilyOptions& family = view.config->options;
  return view.hidden_reads != nullptr && view.config->policy->may_be_merged() &&
         family.keep_deleted_cells == KeepDeleted::kFalse && family.time_to_purge_deletes_ms == 0;
}

std::optional<PlanForScans> plan_for_scans_of(const StoreView& view, const StoreShape& shape) {
  if (!may_compact_for_scans(view) || shape.files.empty()) return std::nullopt;
  for (HiddenReads::Tally& tally : view.hidden_reads->tallies()) {
    if (tally.cells < HiddenReads::kCellsMin) break;
    ScanPlan made = plan_for_scans(*view.config->policy, shape,
                                   {.cells = tally.cells,
                                    .first_row = tally.first_row,
                                    .last_row = tally.last_row,
                                    .all_files = view.config->options.delete_order == MarkerOrder::kSequence,
                                    .price = view.hidden_reads->price()});
    CELLAR_ASSERT(!made.plan || tally.cells >= made.worth_at);
    if (made.plan) return PlanForScans{*std::move(made.plan), std::move(tally)};
  }
  return std::nullopt;
}

std::optional<CompactionPlan> plan_by_time(const EngineOptions& engine, const StoreView& view,
                                           const StoreShape& shape, bool automatic,
                                           std::vector<std::string>* trace) {
  CELLAR_ASSERT(shape.files.size() == view.files.size());
  const int64_t interval_ms = major_interval_ms(engine, view.config->options);
  std::optional<CompactionPlan> plan;
  if (automatic && interval_ms > 0 && !shape.files.empty() &&
      is_due(shape.files.front().created_ms, shape.now_ms,
             with_jitter(interval_ms, engine.major_compaction_jitter_percent, shape.files.front().name)))
    plan = major_plan(*view.config->policy, shape, false);
  return plan ? plan : view.config->policy->pick(shape, trace);
}

}  // namespace cellar
