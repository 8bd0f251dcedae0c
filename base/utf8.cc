// UTF-8: one character at a time, by the table of well-formed byte sequences of the Unicode standard (3.9).
#include "base/utf8.h"

#include <algorithm>

namespace cellar {
namespace {

struct Piece {
  size_t bytes;  // at least 1
  bool whole;    // a character; else a beginning of one, or a byte that begins none
};

Piece piece_at(std::string_view bytes) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const size_t wanted = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte's bounds keep out longer forms than needed, surrogates, and what lies beyond U+10FFFF.
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  size_t at = 1;
  for (; at < wanted && at < bytes.size(); ++at) {
    if (byte(at) < low || byte(at) > high) break;
    low = 0x80;
    high = 0xbf;
  }
  return {at, at == wanted};
}

}  // namespace

bool is_ascii(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Piece piece = piece_at(bytes);
    if (!piece.whole) return false;
    bytes.remove_prefix(piece.bytes);
  }
  return true;
}

std::string with_replacements(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Piece piece = piece_at(bytes);
    text.append(piece.whole ? bytes.substr(0, piece.bytes) : "\xef\xbf\xbd");
    bytes.remove_prefix(piece.bytes);
  }
  return text;
}

}  // namespace cellar
