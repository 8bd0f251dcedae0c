// An HFile's description for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hfile/describe.h"

namespace cellar {

// A screen: what it is, its space by kind when that was asked for, its blocks likewise, warnings, what the
// look cost.
std::string inspect_text(const HFileDescription& file);
// One line per file.
std::string inspect_table(const std::vector<HFileDescription>& files);
nlohmann::ordered_json inspect_json(const HFileDescription& file);

// "row family:qualifier @time type" of a flat key; escaped bytes when it is none.
std::string flat_key_text(std::string_view flat_key);

}  // namespace cellar
