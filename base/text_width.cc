// Widths from a table of Unicode, so that they do not depend on the locale.
#include "base/text_width.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/utf8.h"

namespace cellar {
namespace {

constexpr bool is_ascii_text(uint32_t code) { return code >= 0x20 && code < 0x7F; }

size_t columns_of(std::string_view text, Utf8Piece piece) {
  if (!piece.whole) return piece.bytes;
  switch (character_kind(utf8_code(text.substr(0, piece.bytes)))) {
    case CharacterKind::kWide:
      return 2;
    case CharacterKind::kNarrow:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

CharacterKind character_kind(uint32_t code) {
  if (code < 0x80) return is_ascii_text(code) ? CharacterKind::kNarrow : CharacterKind::kUnprintable;
  const auto after =
      std::ranges::upper_bound(kUnicodeRangeStarts, code, {}, [](uint32_t start) { return start >> 2; });
  return static_cast<CharacterKind>(*(after - 1) & 3);
}

size_t text_width(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    if (is_ascii_text(static_cast<uint8_t>(text[0]))) {
      ++columns;
      text.remove_prefix(1);
      continue;
    }
    const Utf8Piece piece = utf8_piece(text);
    columns += columns_of(text, piece);
    text.remove_prefix(piece.bytes);
  }
  return columns;
}

std::string_view first_columns(std::string_view text, size_t columns) {
  size_t end = 0;
  while (end < text.size()) {
    const std::string_view rest = text.substr(end);
    const Utf8Piece piece = utf8_piece(rest);
    const size_t taken = columns_of(rest, piece);
    if (taken > columns) break;
    columns -= taken;
    end += piece.bytes;
  }
  return text.substr(0, end);
}

std::string_view last_columns(std::string_view text, size_t columns) {
  size_t begin = 0;
  for (size_t width = text_width(text); width > columns;) {
    const std::string_view rest = text.substr(begin);
    const Utf8Piece piece = utf8_piece(rest);
    width -= columns_of(rest, piece);
    begin += piece.bytes;
  }
  while (begin > 0 && begin < text.size()) {  // marks of the character that went
    const std::string_view rest = text.substr(begin);
    const Utf8Piece piece = utf8_piece(rest);
    if (columns_of(rest, piece) > 0) break;
    begin += piece.bytes;
  }
  return text.substr(begin);
}

void cut_to_columns(std::string& text, size_t columns) {
  if (text.size() <= columns || text_width(text) <= columns) return;
  text.resize(first_columns(text, columns == 0 ? 0 : columns - 1).size());
  if (columns > 0) text += "…";
}

void append_readable(std::string& to, std::string_view bytes) {
  bool may_combine = false;
  while (!bytes.empty()) {
    const Utf8Piece piece = utf8_piece(bytes);
    const std::string_view character = bytes.substr(0, piece.bytes);
    const CharacterKind kind =
        piece.whole ? character_kind(utf8_code(character)) : CharacterKind::kUnprintable;
    const bool stays = character != "\\" && kind != CharacterKind::kUnprintable &&
                       (kind != CharacterKind::kZeroWidth || may_combine);
    if (stays)
      to += character;
    else
      append_escaped(to, character);
    may_combine = stays;
    bytes.remove_prefix(piece.bytes);
  }
}

std::string readable(std::string_view bytes) {
  std::string text;
  append_readable(text, bytes);
  return text;
}

}  // namespace cellar
