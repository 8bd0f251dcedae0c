// Flat keys of HFiles as text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace cellar {

// Returns the row of a flat key and "family:qualifier  @time  type", for people; the bytes and "" if it is no
// flat key.
std::pair<std::string, std::string> key_parts(std::string_view flat_key);
// Returns "row family:qualifier @time type" of a flat key, escaped as in the forms for programs; the bytes if
// it is no flat key.
std::string flat_key_text(std::string_view flat_key);
// Returns key_parts() as a column of a table: a long row is cut.
std::string short_key_text(std::string_view flat_key);

}  // namespace cellar
