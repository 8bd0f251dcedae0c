// A compaction policy with as many plans as there are pairs of files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/compaction_policy.h"

namespace cellar::testing {

// Pairs: merges pairs of neighbours that are free. Any number of these compactions may run at the same time.
class Pairs final : public CompactionPolicy {
 public:
  // Adds the policy "pairs" to those that families may choose.
  static void add() {
    Registry<CompactionPolicy>::instance().add("pairs",
                                               [](const PluginParams&) { return std::make_unique<Pairs>(); });
  }
  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    for (size_t i = 0; i + 1 < shape.files.size(); i += 2) {
      const StoreFileInfo& older = shape.files[i];
      const StoreFileInfo& newer = shape.files[i + 1];
      if (!older.busy && !newer.busy) return CompactionPlan{.inputs = {older.id, newer.id}, .why = "a pair"};
    }
    return std::nullopt;
  }
};

}  // namespace cellar::testing
