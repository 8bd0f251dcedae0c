// Goal: the documents are true: their C++ is part of a file that is compiled, their links and the files they
// name exist. Method: they are read here.
#include "tests/tools/documents.h"

#include <regex>
#include <set>

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;

// What compiled code documents may show: examples, and plug-ins that tests link.
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

// `engine/store/store.cc` in a document is a file of the repository.
TEST(Documents, FilesTheyNameExist) {
  static const std::regex kPath("`([a-z_]+/[a-z_/]+\\.(cc|h|cmake|md|sh))`");
  std::set<std::string> named;
  for (const fs::path& document : documents()) {
    if (document.parent_path().filename() == "decisions") continue;  // they tell of their time
    const std::string text = text_of(document);
    for (std::sregex_iterator at(text.begin(), text.end(), kPath), end; at != end; ++at) {
      const std::string name = (*at)[1];
      named.insert(name);
      // Names that stand for a file the reader is going to write.
      if (name.find("_mine") != std::string::npos) continue;
      EXPECT_TRUE(fs::exists(fs::path(CELLAR_SOURCE_DIR) / name))
          << short_name(document) << " names " << name;
    }
  }
  EXPECT_GE(named.size(), 20u);
}

}  // namespace
}  // namespace cellar::testing
