// Completions: a table for autocompletion. Each prefix of three to twelve letters has a row with its ten best
// titles as JSON.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cellar::bench {

constexpr size_t kPrefixMin = 3;
constexpr size_t kPrefixMax = 12;

// Returns titles of one to four made-up words, sorted and without repetition. Some words are far more
// frequent than others. At most `draws` titles: equal ones count once.
std::vector<std::string> made_up_titles(size_t draws);

// Returns the rows: prefix and value. The titles are sorted.
using Completions = std::map<std::string, std::string>;
Completions completions_of(const std::vector<std::string>& titles);

}  // namespace cellar::bench
