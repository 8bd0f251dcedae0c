// UTF-8: one character at a time, by the table of well-formed byte sequences of the Unicode standard (3.9).
#include "base/utf8.h"

#include <algorithm>

#include "base/bytes.h"

namespace cellar {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Returns whether the character drives a terminal. These are control characters, separators of lines, and
// marks that change the direction of text.
bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

Utf8Piece utf8_piece(std::string_view bytes) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true, false};
  if (lead < 0xc2 || lead > 0xf4) return {1, false, false};
  const size_t wanted = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The bounds of the second byte exclude overlong forms, surrogates, and code points beyond U+10FFFF.
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  size_t at = 1;
  for (; at < wanted && at < bytes.size(); ++at) {
    if (byte(at) < low || byte(at) > high) break;
    low = 0x80;
    high = 0xbf;
  }
  return {at, at == wanted, at < wanted && at == bytes.size()};
}

uint32_t utf8_code(std::string_view character) {
  const auto byte = [&](size_t at) {
    return static_cast<uint32_t>(static_cast<unsigned char>(character[at]));
  };
  if (character.size() == 1) return byte(0);
  uint32_t code = byte(0) & (0x7fu >> character.size());
  for (size_t at = 1; at < character.size(); ++at) code = code << 6 | (byte(at) & 0x3f);
  return code;
}

void append_utf8(std::string& to, uint32_t code) {
  const auto put = [&](uint32_t byte) { to += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  }
}

bool is_ascii(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Piece piece = utf8_piece(bytes);
    if (!piece.whole) return false;
    bytes.remove_prefix(piece.bytes);
  }
  return true;
}

std::string with_replacements(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Utf8Piece piece = utf8_piece(bytes);
    text.append(piece.whole ? bytes.substr(0, piece.bytes) : "\xef\xbf\xbd");
    bytes.remove_prefix(piece.bytes);
  }
  return text;
}

std::string escaped_controls(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Utf8Piece piece = utf8_piece(bytes);
    const std::string_view character = bytes.substr(0, piece.bytes);
    const bool stays =
        character == "\n" || character == "\t" || (piece.whole && !is_control(utf8_code(character)));
    if (stays)
      text += character;
    else
      append_escaped(text, character);
    bytes.remove_prefix(piece.bytes);
  }
  return text;
}

std::string printable_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Utf8Piece piece = utf8_piece(bytes);
    const std::string_view character = bytes.substr(0, piece.bytes);
    const uint32_t code = piece.whole ? utf8_code(character) : 0xFFFD;
    append_utf8(text, is_control(code) ? ' ' : code);
    bytes.remove_prefix(piece.bytes);
  }
  return text;
}

size_t utf8_length(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, begins_character));
}

}  // namespace cellar
