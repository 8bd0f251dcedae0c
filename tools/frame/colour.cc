// Colours by the conventions of NO_COLOR and TERM.
#include "tools/frame/colour.h"

#include <unistd.h>

#include <cstdlib>

namespace cellar {
namespace {

ColorWhen color = ColorWhen::kAuto;

}  // namespace

ColorWhen color_when(std::string_view word) {
  if (word == "always") return ColorWhen::kAlways;
  return word == "never" ? ColorWhen::kNever : ColorWhen::kAuto;
}

void set_color(ColorWhen when) { color = when; }

bool is_dumb_terminal() {
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) == "dumb";
}

bool color_wanted(int descriptor) {
  if (color != ColorWhen::kAuto) return color == ColorWhen::kAlways;
  const char* const refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && !is_dumb_terminal() && ::isatty(descriptor) != 0;
}

std::string_view style_code(Style style) {
  switch (style) {
    case Style::kHeading:
      return "\x1b[1m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBad:
      return "\x1b[1;31m";
    case Style::kNote:
      return "\x1b[33m";
    case Style::kPlain:
      break;
  }
  return "\x1b[0m";
}

std::string styled(Style style, std::string_view text) {
  return std::string(style_code(style)) + std::string(text) + std::string(style_code(Style::kPlain));
}

}  // namespace cellar
