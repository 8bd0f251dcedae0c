// Reading and rewriting the project's documents.
#include "tests/tools/documents.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cellar::testing {

namespace fs = std::filesystem;

std::vector<fs::path> documents() {
  const fs::path root = CELLAR_SOURCE_DIR;
  std::vector<fs::path> all = {root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> blocks_of(const std::string& text, const std::string& language) {
  std::vector<std::string> all;
  bool inside = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "```" + language) {
      all.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      all.back() += line + "\n";
    }
  }
  return all;
}

void expect_generated(const std::string& document, const std::string& text) {
  const fs::path file = fs::path(CELLAR_SOURCE_DIR) / document;
  if (std::getenv("CELLAR_REWRITE") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text_of(file), text) << document
                                 << " is not what the program says; run ./dev docs, which writes it anew";
}

std::string table_row(const std::vector<std::string>& fields) {
  std::string row = "|";
  for (const std::string& field : fields) {
    row += ' ';
    for (const char c : field) row += c == '|' ? std::string("\\|") : std::string(1, c);
    row += field.empty() ? "|" : " |";
  }
  return row + "\n";
}

}  // namespace cellar::testing
