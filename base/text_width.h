// The width of UTF-8 text on a terminal, and bytes as text that is safe to show there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/unicode_ranges.h"

namespace cellar {

// Returns how a terminal shows a code point. Controls, format characters (such as marks that change the
// direction of text), separators other than the blank, private and unassigned characters are unprintable.
CharacterKind character_kind(uint32_t code);

// Returns how many columns of a terminal the UTF-8 text takes. A combining mark takes none, a wide character
// (as of Chinese) two, any other one. Bytes that are not UTF-8 take one column each.
size_t text_width(std::string_view text);
// Returns the longest beginning or ending of `text` that takes at most so many columns. Marks stay with the
// character that they belong to.
std::string_view first_columns(std::string_view text, size_t columns);
std::string_view last_columns(std::string_view text, size_t columns);
// Cuts `text` to so many columns; where something is cut, its last column is "…".
void cut_to_columns(std::string& text, size_t columns);

// Appends `bytes` for people: printable characters of UTF-8 stay, every other byte and the backslash become
// \xHH. So does a combining mark without a character before it. unescaped() returns the bytes.
void append_readable(std::string& to, std::string_view bytes);
std::string readable(std::string_view bytes);

}  // namespace cellar
