// Indented lines and aligned columns.
#include "base/text_printer.h"

#include <algorithm>

#include "base/text_width.h"

namespace cellar {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns whether the text is a number: "12", "-1.5", "12,345", "1.5 MiB", "99.9%", "340 ms". It has
// digits first, then at most one short word.
bool is_numeric(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return false;
  const auto end_of_number =
      std::find_if(text.begin(), text.end(), [](char c) { return !is_digit(c) && c != ',' && c != '.'; });
  std::string_view unit = text.substr(static_cast<size_t>(end_of_number - text.begin()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  constexpr size_t kUnitWidthMax = 5;
  return text_width(unit) <= kUnitWidthMax && std::none_of(unit.begin(), unit.end(), [](char c) {
           return is_digit(c) || c == ' ' || c == '-' || c == ':' || c == '_';
         });
}

void append_spaces(std::string& to, size_t count) { to.append(count, ' '); }

}  // namespace

void TextPrinter::line(std::string_view text) {
  if (!text.empty()) append_spaces(text_, static_cast<size_t>(std::max(depth_, 0)) * 2);
  text_ += text;
  text_ += '\n';
}

std::string aligned_table(const std::vector<std::vector<std::string>>& rows) {
  struct Column {
    size_t width = 0;
    bool numeric = true;
    bool filled = false;
  };
  std::vector<Column> columns;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (columns.size() < rows[r].size()) columns.resize(rows[r].size());
    for (size_t c = 0; c < rows[r].size(); ++c) {
      const std::string& cell = rows[r][c];
      columns[c].width = std::max(columns[c].width, text_width(cell));
      if (r == 0 || cell.empty() || cell == "-") continue;
      columns[c].filled = true;
      columns[c].numeric = columns[c].numeric && is_numeric(cell);
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const size_t padding = columns[c].width - text_width(row[c]);
      const bool right = columns[c].numeric && columns[c].filled;
      if (c > 0) line += "  ";
      if (right) append_spaces(line, padding);
      line += row[c];
      if (!right) append_spaces(line, padding);
    }
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

}  // namespace cellar
