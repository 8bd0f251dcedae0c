// "d:max_versions=3,ttl_s=86400": a family and options of it, as create and alter take them.
#pragma once

#include <string_view>

#include "cellar/options.h"

namespace cellar {

std::string_view family_name(std::string_view text);
// Sets the name and the named options of `family`, leaving the others. Values may hold commas inside
// parentheses. All faults in one status.
Status parse_family(std::string_view text, FamilyOptions& family);

}  // namespace cellar
