// Cutting of messages.
#include "tools/frame/short_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace cellar {
namespace {

constexpr size_t kPartMax = 400;
constexpr size_t kTextMax = 4000;

bool inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Keeps `kept` bytes of each end, or a few less: neither a character of UTF-8 nor a byte's \xHH is divided.
std::string cut_in_the_middle(std::string_view text, size_t kept) {
  size_t front = kept;
  while (front > 0 && inside_character(text[front])) --front;
  if (const size_t escape = text.substr(0, front).rfind('\\'); escape != text.npos && escape + 4 > front)
    front = escape;
  size_t back = text.size() - kept;
  while (back < text.size() && inside_character(text[back])) ++back;
  const size_t escape = text.rfind('\\', back);
  if (escape != text.npos && escape < back && escape + 4 > back) back = std::min(text.size(), escape + 4);
  return fmt::format("{}…({} characters)…{}", text.substr(0, front), human_count(text.size()),
                     text.substr(back));
}

// Returns the length of the part at the front of `text`: a blank, a quoted text, or a run without blanks and
// without the punctuation at its end.
size_t part_at_front(std::string_view text) {
  constexpr std::string_view kBlanks = " \n\t";
  if (kBlanks.find(text.front()) != kBlanks.npos) return 1;
  if (text.front() == '"') {
    const size_t quote = text.find('"', 1);
    if (quote != text.npos) return quote + 1;
  }
  size_t length = std::min(text.find_first_of(" \n\t\"", 1), text.size());
  while (length > 1 && std::string_view(",:;").find(text[length - 1]) != text.npos) --length;
  return length;
}

}  // namespace

std::string shortened(std::string_view text) {
  if (text.size() <= kPartMax) return std::string(text);
  std::string short_text;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, part_at_front(rest));
    rest.remove_prefix(part.size());
    const bool quoted = part.size() > 2 && part.front() == '"' && part.back() == '"';
    if (part.size() <= kPartMax) {
      short_text += part;
    } else if (quoted) {
      short_text += "\"" + cut_in_the_middle(part.substr(1, part.size() - 2), kPartMax / 4) + "\"";
    } else {
      short_text += cut_in_the_middle(part, kPartMax / 4);
    }
  }
  return short_text.size() <= kTextMax ? short_text : cut_in_the_middle(short_text, kTextMax / 4);
}

}  // namespace cellar
