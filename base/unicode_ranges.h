// The table of text_width.h: how a terminal shows each character of Unicode.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cellar {

enum class CharacterKind : uint8_t { kUnprintable, kZeroWidth, kNarrow, kWide };

// Each entry begins a range of code points of one kind: code point * 4 + kind, ascending. The first is 0.
inline constexpr size_t kUnicodeRanges = 2027;
extern const std::array<uint32_t, kUnicodeRanges> kUnicodeRangeStarts;

}  // namespace cellar
