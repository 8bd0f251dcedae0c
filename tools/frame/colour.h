// Colour: whether text for people may be coloured, and how.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cellar {

enum class Style : uint8_t { kPlain, kHeading, kGood, kBad, kNote };

enum class ColorWhen : uint8_t { kAuto, kAlways, kNever };
// Returns the choice that --color names, kAuto for any other word.
ColorWhen color_when(std::string_view word);

// Sets what --color asks for. For the whole process, which has one standard output. One thread.
void set_color(ColorWhen when);
// Returns whether text for people that goes to the descriptor is coloured. kAuto colours at a terminal.
// It does not if NO_COLOR is set to anything (no-color.org) or TERM is "dumb".
bool color_wanted(int descriptor);
// Returns whether the terminal understands nothing but text: TERM is "dumb".
bool is_dumb_terminal();

// Returns the escape sequence that switches to the style.
std::string_view style_code(Style style);
// Returns the text in the style, and plain after it.
std::string styled(Style style, std::string_view text);

}  // namespace cellar
