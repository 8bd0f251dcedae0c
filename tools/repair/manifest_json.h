// The state of a store as its manifest holds it, as JSON and as text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/manifest/manifest_state.h"

namespace cellar {

// Names and keys have \xHH escapes; times are milliseconds since 1970, sizes bytes.
nlohmann::ordered_json manifest_json(const ManifestState& state);
// A line for each table, family, file and feed.
std::string manifest_text(const ManifestState& state);

}  // namespace cellar
