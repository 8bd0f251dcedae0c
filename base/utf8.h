// UTF-8 as Java reads it: whether bytes are, and what becomes of those that are not.
#pragma once

#include <string>
#include <string_view>

namespace cellar {

bool is_ascii(std::string_view bytes);
bool is_utf8(std::string_view bytes);
// U+FFFD in place of each longest run of bytes that begins a character and does not complete it, and of each
// byte that begins none.
std::string with_replacements(std::string_view bytes);

}  // namespace cellar
