// UTF-8 as Java reads it: validating it, and replacing or escaping malformed bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cellar {

// Utf8Piece: the first piece of some bytes: a character, the longest incomplete beginning of a character,
// or a byte that begins no character.
struct Utf8Piece {
  size_t bytes;  // length of the piece, at least 1
  bool whole;    // True if the piece is a character
  bool open;     // True if the piece is incomplete, but more bytes could complete it
};
// Returns the first piece of `bytes`, which must not be empty.
Utf8Piece utf8_piece(std::string_view bytes);
// Returns the code point of `character`, which must be exactly one well-formed character.
uint32_t utf8_code(std::string_view character);
void append_utf8(std::string& to, uint32_t code);

bool is_ascii(std::string_view bytes);
bool is_utf8(std::string_view bytes);
// Replaces malformed bytes by U+FFFD: one for each longest incomplete beginning of a character, and one
// for each byte that begins no character.
std::string with_replacements(std::string_view bytes);
// Does the same as with_replacements() and turns each control character into a blank. The result has as
// many characters and is safe to show at a terminal.
std::string printable_utf8(std::string_view bytes);
// Replaces by \xHH each byte that could drive a terminal. These are control characters other than newline
// and tab, marks that change the direction of text, and malformed bytes. All other bytes stay.
std::string escaped_controls(std::string_view bytes);
// Returns the number of characters of well-formed text.
size_t utf8_length(std::string_view text);

}  // namespace cellar
