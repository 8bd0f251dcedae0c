// Goal: the documents name files, classes and functions that exist. Method: a path of the repository in
// backquotes is looked up in it. A Class::function in backquotes is looked up in the words of the sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy_rules.h"
#include "tests/tidy_source.h"

namespace cellar::testing {
namespace {

using Words = std::set<std::string, std::less<>>;

// The words of each C++ source, comments included: a document may name what a comment names.
std::vector<Words> words_of_sources() {
  std::vector<Words> all;
  for (const Source& source : tree()) {
    if (!source.cpp()) continue;
    Words& words = all.emplace_back();
    for (const std::string& line : source.lines) {
      for (size_t at = 0, end = 0; at < line.size(); at = end + 1) {
        for (end = at; end < line.size() && is_word(line[end]);) ++end;
        if (end > at) words.insert(line.substr(at, end - at));
      }
    }
  }
  return all;
}

Strings matches(const std::string& line, const std::regex& pattern) {
  Strings found;
  for (std::sregex_iterator at(line.begin(), line.end(), pattern), end; at != end; ++at)
    for (size_t i = 1; i < at->size(); ++i) found.push_back((*at)[i].str());
  return found;
}

// "its/own_mine.cc" is the reader's file, not one of ours.
bool exists(const std::string& path) {
  return std::filesystem::exists(std::filesystem::path(CELLAR_SOURCE_DIR) / path) ||
         path.find("_mine.") != std::string::npos || path.find("_mine_test.") != std::string::npos;
}

Strings check_documents(const Sources& documents, const std::vector<Words>& sources) {
  static const std::regex path("`([a-z_]+/[A-Za-z0-9_./-]+\\.(?:cc|h|cmake|md|sh|py))`");
  static const std::regex function("`(?:[a-z]+::)?([A-Z][A-Za-z0-9]*)::~?([A-Za-z0-9_]+)(?:\\([^`]*\\))?`");
  Strings complaints;
  for (const Source& document : documents) {
    if (!document.path.ends_with(".md")) continue;
    for (size_t i = 0; i < document.lines.size(); ++i) {
      for (const std::string& named : matches(document.lines[i], path))
        if (!exists(named)) complaints.push_back(document.at(i + 1) + named + " does not exist");
      const Strings named = matches(document.lines[i], function);
      for (size_t at = 0; at + 1 < named.size(); at += 2)
        if (std::ranges::none_of(sources, [&](const Words& words) {
              return words.contains(named[at]) && words.contains(named[at + 1]);
            }))
          complaints.push_back(document.at(i + 1) + named[at] + "::" + named[at + 1] + " is in no source");
    }
  }
  return complaints;
}

TEST(Documents, NameWhatExists) {
  for (const std::string& complaint : check_documents(tree(), words_of_sources())) ADD_FAILURE() << complaint;
}

TEST(Documents, NoticeWhatDoesNot) {
  const Words store = {"Store", "view"};
  const Sources documents = {
      make_source("docs/a.md", {"`Store::view` of `engine/store/store.h`, `tests/tidy_rules.h`", "",
                                "`Store::look(Row)`, `engine/store.h`, `compaction/policy_mine.cc`"})};
  EXPECT_EQ(check_documents(documents, {store}), (Strings{"docs/a.md:3: engine/store.h does not exist",
                                                          "docs/a.md:3: Store::look is in no source"}));
}

}  // namespace
}  // namespace cellar::testing
