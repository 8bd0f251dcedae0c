// Models of cache policies: the pseudo-code of the papers, word for word, with lists that are searched from
// end to end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cellar::testing {

// Returns for each block asked for whether a cache of `capacity` blocks would have found it.
using Model = std::vector<bool> (*)(const std::vector<uint64_t>& asked, size_t capacity);

// The model of each policy, by the policy's text with its default parameters.
const std::map<std::string, Model>& policy_models();

}  // namespace cellar::testing
