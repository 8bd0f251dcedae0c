// Flat keys of HFiles as text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace cellar {

// The row of a flat key and "family:qualifier  @time  type"; escaped bytes and "" when it is no flat key.
std::pair<std::string, std::string> key_parts(std::string_view flat_key);
// "row family:qualifier @time type" of a flat key; escaped bytes when it is none.
std::string flat_key_text(std::string_view flat_key);
// The same where the room is a column of a table: a long row is cut.
std::string short_key_text(std::string_view flat_key);

}  // namespace cellar
