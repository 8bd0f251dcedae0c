// Error pages: for each error code, what it means, its usual causes, and what to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cellar {

// Returns the text of `cellar help CODE`, e.g. of "CEL-LOCKED" in any case; empty if there is no such code.
std::string help_of_error_code(std::string_view code);
// Returns all error codes, sorted.
std::vector<std::string> error_codes();
// Returns the text of `cellar help errors`: all codes with one line each.
std::string help_of_errors();

}  // namespace cellar
