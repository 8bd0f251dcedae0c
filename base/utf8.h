// UTF-8 as Java reads it: whether bytes are, and what becomes of those that are not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cellar {

// What bytes begin with: a character, the longest beginning of one, or a byte that begins none.
struct Utf8Piece {
  size_t bytes;  // at least 1
  bool whole;    // a character
  bool open;     // none yet, but more bytes could make it one
};
// `bytes` is not empty.
Utf8Piece utf8_piece(std::string_view bytes);
// The number of the character that these bytes are.
uint32_t utf8_code(std::string_view character);
void append_utf8(std::string& to, uint32_t code);

bool is_ascii(std::string_view bytes);
bool is_utf8(std::string_view bytes);
// U+FFFD in place of each longest run of bytes that begins a character and does not complete it, and of each
// byte that begins none.
std::string with_replacements(std::string_view bytes);
// … and a blank for each control character: what may be shown at a terminal, in as many characters.
std::string printable_utf8(std::string_view bytes);
// \xHH in place of what could drive a terminal: each byte of a control character other than a line's end and
// a tabulator, and each that is no character. The rest stays.
std::string escaped_controls(std::string_view bytes);
// Of well-formed text: how many characters, and the first or last ones of it.
size_t utf8_length(std::string_view text);
std::string_view utf8_first(std::string_view text, size_t characters);
std::string_view utf8_last(std::string_view text, size_t characters);

}  // namespace cellar
