// Goal: `cellar help CODE` explains every finding that a check of files or stores reports, and no other.
// Method: the codes are collected from the sources, and the pages from the real program.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "tests/tools/documents.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;

class FindingPages : public ToolTest {
 protected:
  // Returns the codes that a source of these layers gives to a finding. The program does not
  // print a code where it only compares it or looks it up.
  static std::set<std::string> codes_of_the_sources() {
    static const std::regex kCode("(==|!=|starts_with\\(|has\\()?\\s*\"([VW]-[A-Z-]*[A-Z])\"");
    std::set<std::string> codes;
    for (const char* layer : {"hfile", "engine", "compaction", "tools"}) {
      for (const auto& entry : fs::recursive_directory_iterator(fs::path(CELLAR_SOURCE_DIR) / layer)) {
        const fs::path& file = entry.path();
        if (file.extension() != ".cc" || file.filename() == "finding_pages.cc") continue;
        const std::string text = text_of(file);
        for (auto at = std::sregex_iterator(text.begin(), text.end(), kCode); at != std::sregex_iterator();
             ++at)
          if (!(*at)[1].matched) codes.insert((*at)[2]);
      }
    }
    return codes;
  }

  // Returns the codes that `cellar help findings` lists.
  std::set<std::string> listed_codes() const {
    std::set<std::string> codes;
    std::istringstream lines(out_of({"help", "findings"}));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  V-") && !line.starts_with("  W-")) continue;
      EXPECT_TRUE(codes.insert(line.substr(2, line.find(' ', 2) - 2)).second) << "twice: " << line;
    }
    return codes;
  }
};

TEST_F(FindingPages, EveryFindingHasAPageAndEveryPageAFinding) {
  const std::set<std::string> codes = codes_of_the_sources();
  EXPECT_GE(codes.size(), 45u);
  const std::set<std::string> listed = listed_codes();
  for (const std::string& code : codes)
    EXPECT_TRUE(listed.contains(code)) << code << " has no page in tools/frame/finding_pages.cc";
  for (const std::string& code : listed)
    EXPECT_TRUE(codes.contains(code)) << code << " has a page, and no source reports it";
}

TEST_F(FindingPages, APageTellsSeverityMeaningAndRemedy) {
  const std::string list = out_of({"help", "findings"});
  for (const std::string& code : listed_codes()) {
    SCOPED_TRACE(code);
    const std::string page = out_of({"help", code});
    EXPECT_TRUE(page.starts_with(code + ": ")) << page;
    const std::string severity = code.starts_with("V-") ? "error: " : "warning: ";
    for (const std::string& part :
         {"\nseverity\n  " + severity, std::string("\nwhat it means\n  "), std::string("\nwhat to do\n  ")})
      EXPECT_NE(page.find(part), std::string::npos) << page;
    const std::string found = page.substr(code.size() + 2, page.find('\n') - code.size() - 2);
    EXPECT_NE(list.find(found), std::string::npos) << "the list has another line for it";
    std::istringstream lines(page + list);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
  }
}

TEST_F(FindingPages, CodesAreFoundInAnyCaseAndWithAMistake) {
  EXPECT_EQ(out_of({"help", "v-order"}), out_of({"help", "V-ORDER"}));
  for (const auto& [typed, meant] : {std::pair{"V-ORDR", "V-ORDER"},
                                     {"w-no-lastky", "W-NO-LASTKEY"},
                                     {"V-CHEKSUM", "V-CHECKSUM"},
                                     {"CEL-LOKED", "CEL-LOCKED"}}) {
    const ToolResult result = run({"help", typed});
    EXPECT_EQ(result.exit, 2);
    EXPECT_NE(result.err.find("CEL-USAGE"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(std::string("did you mean ") + meant + "?\n"), std::string::npos) << result.err;
  }
}

// The code that `cellar verify` prints for a damaged file leads to a page.
TEST_F(FindingPages, TheCodeThatVerifyPrintsIsExplained) {
  fs::copy(example_file("versions.hfile"), path("damaged.hfile"));
  std::string bytes = read_file("damaged.hfile");
  bytes[5000] = static_cast<char>(bytes[5000] ^ 1);
  write_file("damaged.hfile", bytes);
  const ToolResult verified = run({"verify", "damaged.hfile", "--format", "json"});
  EXPECT_EQ(verified.exit, 1);
  const auto report = nlohmann::json::parse(verified.out);
  const std::string code = report["files"][0]["findings"][0]["code"];
  EXPECT_EQ(code, "V-CHECKSUM");
  EXPECT_NE(out_of({"help", code}).find("cellar salvage FILE -o NEW"), std::string::npos);
}

}  // namespace
}  // namespace cellar::testing
