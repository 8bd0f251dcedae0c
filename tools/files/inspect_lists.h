// The long parts of an HFile's description, for people and as JSON: index, filters, file info, trailer, one
// block.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hfile/check/describe.h"
#include "tools/frame/value_rules.h"

namespace cellar {

// Each begins with an empty line.
std::string index_text(const HFileDescription& file);
std::string bloom_text(const HFileDescription& file);
std::string file_info_text(const HFileDescription& file, uint64_t list_max);
std::string trailer_text(const HFileDescription& file);
// `rules` say how its cells are shown.
std::string block_text(const HFileBlockDetail& block, const ValueRules& rules);

nlohmann::ordered_json index_list_json(const HFileDescription& file);
nlohmann::ordered_json chunk_list_json(const HFileBloomLine& bloom);
nlohmann::ordered_json trailer_json(const HFileDescription& file);
nlohmann::ordered_json block_json(const HFileBlockDetail& block, const ValueRules& rules);

// "ok", "damaged", "none" where there are no sums, "unknown" where the header cannot be read.
std::string_view checksum_state(const HFileBlockDetail& block);

}  // namespace cellar
