// Holds a JSON document against a schema of share/cellar/schema: type, required, properties,
// patternProperties and items; members that the schema does not name are faults, too.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cellar::testing {

// The schema "stats" stands in stats.json.
nlohmann::json schema_of(const std::string& name);

// One line for each place that does not fit, empty when all do.
std::vector<std::string> schema_faults(const nlohmann::json& document, const nlohmann::json& schema,
                                       const std::string& place = "$");

}  // namespace cellar::testing
