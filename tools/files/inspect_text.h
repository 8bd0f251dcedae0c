// An HFile's description for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hfile/check/describe.h"
#include "tools/frame/value_rules.h"

namespace cellar {

// The parts of a description to show. Its lists are shown where they are filled.
struct InspectWanted {
  bool facts = true;  // what it is, in a screen, and its warnings
  bool index = false;
  bool bloom = false;
  bool file_info = false;
  bool trailer = false;
  uint64_t list_max = UINT64_MAX;
  ValueRules rules = ValueRules(ValueForm::kText);  // of the cells of a block
};

// Its name, what is wanted, and what the look cost.
std::string inspect_text(const HFileDescription& file, const InspectWanted& wanted);
// One line per file.
std::string inspect_table(const std::vector<HFileDescription>& files);
nlohmann::ordered_json inspect_json(const HFileDescription& file, const ValueRules& rules);

}  // namespace cellar
