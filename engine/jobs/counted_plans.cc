// The count, and its limit.
#include "engine/jobs/counted_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellar {

Status CountedPlans::check(const Store& store, const CompactionPlan& plan, uint64_t flushes) {
  if (std::exchange(flushes_, flushes) != flushes) plans_ = 0;
  const std::shared_ptr<const StoreView> view = store.view();
  files_ = std::max<uint64_t>(files_, view->files.size());
  if (++plans_ <= kFree + kOfAFile * files_) return {};
  return Status::invalid_argument(fmt::format("the plans of policy {} come to no end: {} so far",
                                              view->config->options.compaction, plans_))
      .hinting("the policy is wrong: it took the last files because: " + plan.why);
}

}  // namespace cellar
