// Finding pages: the codes that checks of files and stores report. A page tells what was found, what it means
// for the data, and what to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cellar {

// Returns the text of `cellar help CODE` for a code such as "V-ORDER", in any case; empty if there is no such
// code.
std::string help_of_finding_code(std::string_view code);
// Returns all codes of findings, sorted.
std::vector<std::string> finding_codes();
// Returns the text of `cellar help findings`: all codes with one line each.
std::string help_of_findings();

}  // namespace cellar
