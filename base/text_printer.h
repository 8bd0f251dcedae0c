// TextPrinter: indented lines and aligned tables for dumps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cellar {

// Collects text. One thread at a time.
class TextPrinter {
 public:
  // One line at the current indentation.
  void line(std::string_view text);
  void indent() { ++depth_; }
  void outdent() { --depth_; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

// Rows of cells as aligned columns, two spaces between, numbers (cells of digits, commas, dots and a unit) to
// the right. The first row is the heading. Width is counted in UTF-8 code points.
std::string aligned_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace cellar
