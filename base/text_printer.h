// TextPrinter: indented lines and aligned tables for dumps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cellar {

// Accumulates text. One thread at a time.
class TextPrinter {
 public:
  // Adds one line at the current indentation.
  void line(std::string_view text);
  void indent() { ++depth_; }
  void outdent() { --depth_; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

// Formats rows as aligned columns with two spaces between them. Columns of numbers (digits, commas, dots
// and a unit) are aligned right. The first row is the heading. Width is counted in columns of a terminal.
std::string aligned_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace cellar
