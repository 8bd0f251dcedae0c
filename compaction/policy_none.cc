// none: never picks anything; compactions happen on request only.
#include "cellar/compaction_policy.h"
#include "cellar/plugin.h"

namespace cellar {
namespace {

class None final : public CompactionPolicy {
 public:
  explicit None(const PluginParams&) {}
  std::optional<CompactionPlan> pick(const StoreShape&, std::vector<std::string>*) const override {
    return std::nullopt;
  }
};

}  // namespace

CELLAR_PLUGIN(CompactionPolicy, compaction_policy_none, "none", None)

}  // namespace cellar
