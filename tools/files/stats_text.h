// The counts of CellStats, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/files/cell_stats.h"
#include "tools/frame/value_rules.h"

namespace cellar {

struct StatsView {
  const CellStats* stats = nullptr;
  bool complete = true;                             // else the cells before an error or an interruption
  std::optional<int64_t> now;                       // ages are relative to it; none: to the newest timestamp
  std::vector<std::string> histograms;              // words of histogram_words()
  std::string by;                                   // as it was asked for; empty: no groups
  ValueRules rules = ValueRules(ValueForm::kText);  // of rows and columns, for people; keys in JSON
};

// "key", "value", "row", "cols", "versions", "age".
const std::vector<std::string>& histogram_words();

std::string stats_text(const StatsView& view);
// One document, "cellar.stats/1".
nlohmann::ordered_json stats_json(const StatsView& view);
// The same as lines: objects whose first member is "kind".
std::string stats_lines(const StatsView& view);

}  // namespace cellar
