// Goal: the documents are true. Their C++ is part of a file that is compiled, and their links lead somewhere.
// Method: they are read here. A check of the names in them is in tests/tidy_docs_test.cc.
#include "tests/tools/documents.h"

#include <filesystem>
#include <string>
#include <vector>

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;

// Returns the compiled code that documents may show: examples, and plug-ins that tests link.
std::vector<fs::path> showable_sources() {
  std::vector<fs::path> all;
  for (const char* folder : {"examples", "tests/compaction", "tests/cache"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(CELLAR_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".cc") all.push_back(entry.path());
  }
  return all;
}

std::string short_name(const fs::path& file) { return fs::relative(file, CELLAR_SOURCE_DIR).string(); }

TEST(Documents, CodeIsPartOfACompiledFile) {
  size_t blocks = 0;
  for (const fs::path& document : documents()) {
    for (const std::string& block : blocks_of(text_of(document), "cpp")) {
      ++blocks;
      bool found = false;
      for (const fs::path& source : showable_sources())
        found = found || text_of(source).find(block) != std::string::npos;
      EXPECT_TRUE(found) << short_name(document)
                         << " shows code that no example and no plug-in of a test holds:\n"
                         << block;
    }
  }
  EXPECT_GE(blocks, 3u);
}

TEST(Documents, LinksLeadSomewhere) {
  for (const fs::path& document : documents()) {
    const std::string text = text_of(document);
    for (size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string target = text.substr(at + 2, text.find(')', at) - at - 2);
      if (target.starts_with("http") || target.starts_with('#')) continue;
      EXPECT_TRUE(fs::exists(document.parent_path() / target.substr(0, target.find('#'))))
          << short_name(document) << " links to " << target;
    }
  }
}

// docs/applications.md lists 32 applications with the program that shows each, and a picture of each folder.
TEST(Documents, EveryApplicationHasAProgram) {
  const fs::path root(CELLAR_SOURCE_DIR);
  const std::string page = text_of(root / "docs/applications.md");
  for (int number = 1; number <= 32; ++number) {
    const size_t line = page.find("\n| X" + std::to_string(number) + " | ");
    ASSERT_NE(line, std::string::npos) << "X" << number;
    const size_t at = page.find("](../", line);
    ASSERT_LT(at, page.find('\n', line + 1)) << "X" << number << " names no program";
    const std::string program = page.substr(at + 5, page.find(')', at) - at - 5);
    EXPECT_TRUE(program.ends_with(".cc") && fs::exists(root / program)) << program;
  }
  for (const auto& entry : fs::directory_iterator(root / "examples")) {
    if (!fs::exists(entry.path() / "run.sh")) continue;
    const std::string name = entry.path().filename().string();
    EXPECT_NE(page.find("(pictures/app_" + name + ".svg)"), std::string::npos) << name;
    EXPECT_NE(page.find("(../examples/" + name + "/"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace cellar::testing
