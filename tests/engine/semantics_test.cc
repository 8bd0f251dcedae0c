// Goal: every rule of the data model that tests/data/semantics/README.md lists is shown by a case that people
// can read. Method: the cases there, each a few steps on a real engine whose clock stands still; and the list
// compared with the cases, both ways.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/engine/semantics_story.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {
namespace {

const std::string kFolder = "semantics/";

const std::vector<std::string> kFiles = {"deletes.txt",    "reads.txt",  "scans.txt",
                                         "counters.txt",   "atomic.txt", "versions_ttl.txt",
                                         "compaction.txt", "tricky.txt", "filters.txt"};

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << "cannot read " << path;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string data(const std::string& name) {
  return content_of(std::string(CELLAR_TEST_DATA_DIR) + "/" + kFolder + name);
}

class Semantics : public ::testing::TestWithParam<std::string> {};

TEST_P(Semantics, Cases) {
  Story story;
  run_cases(kFolder + GetParam(), [&](const Case& c) { return story.answer(c); });
}

INSTANTIATE_TEST_SUITE_P(, Semantics, ::testing::ValuesIn(kFiles),
                         [](const auto& file) { return file.param.substr(0, file.param.find('.')); });

// The rules that "# §3.1.1, §3.1.2: text" names.
std::set<std::string> rules_of(const std::string& comment) {
  std::set<std::string> rules;
  const std::string names = comment.substr(0, comment.find(':'));
  const std::string mark = "§";
  for (size_t at = names.find(mark); at != std::string::npos; at = names.find(mark, at + 1)) {
    const size_t begin = at + mark.size();
    rules.insert(names.substr(begin, names.find_first_not_of("0123456789.", begin) - begin));
  }
  return rules;
}

// "| 3.1.1 | what | where |" → rule, where; of other lines nothing.
bool row_of(const std::string& line, std::string& rule, std::string& where) {
  if (!line.starts_with("| ") || line.size() < 3 || line[2] < '0' || line[2] > '9') return false;
  const size_t last = line.rfind(" |");
  const size_t before = line.rfind("| ", last - 1);
  rule = line.substr(2, line.find(" |", 2) - 2);
  where = line.substr(before + 2, last - before - 2);
  return true;
}

TEST(SemanticsList, EveryRuleHasACaseAndEveryCaseARule) {
  std::map<std::string, std::set<std::string>> cases;  // the files that have a case of a rule
  for (const std::string& file : kFiles)
    for (const std::string& line : split_lines(data(file)))
      if (line.starts_with("# §"))
        for (const std::string& rule : rules_of(line)) cases[rule].insert(file);
  std::set<std::string> listed;
  for (const std::string& line : split_lines(data("README.md"))) {
    std::string rule, where;
    if (!row_of(line, rule, where)) continue;
    EXPECT_TRUE(listed.insert(rule).second) << "listed twice: " << rule;
    if (where.ends_with(".txt")) {
      EXPECT_TRUE(cases[rule].contains(where)) << where << " has no case \"# §" << rule << ": …\"";
    } else if (where.starts_with("`")) {  // `tests/folder/file.cc`: Name
      const size_t end = where.find("`: ");
      ASSERT_NE(end, std::string::npos) << line;
      const std::string path = std::string(CELLAR_TEST_DATA_DIR) + "/../../" + where.substr(1, end - 1);
      EXPECT_NE(content_of(path).find(where.substr(end + 3)), std::string::npos)
          << where.substr(1, end - 1) << " has no " << where.substr(end + 3);
    } else {
      EXPECT_TRUE(where.starts_with("none: ") && where.size() > 20)
          << "rule " << rule << " has neither case nor reason";
    }
  }
  for (const auto& [rule, files] : cases)
    EXPECT_TRUE(listed.contains(rule)) << "README.md does not list the rule of the case §" << rule;
  EXPECT_GT(listed.size(), 250u);
}

}  // namespace
}  // namespace cellar::testing
