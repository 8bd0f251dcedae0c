// FilterNames: what the filter language calls filters, and how arguments become them.
#pragma once

#include <map>
#include <span>
#include <string>

#include "cellar/filter.h"

namespace cellar {

using FilterNames = std::map<std::string, FilterMaker, std::less<>>;
// Filled with the built-in names at its first use.
FilterNames& known_filters();

}  // namespace cellar
