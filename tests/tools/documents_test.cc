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

}  // namespace
}  // namespace cellar::testing
