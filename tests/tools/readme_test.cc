// Goal: the README's commands work and print what it shows (its code and links: documents_test.cc).
// Method: the file is read here, and each `$ cellar` line runs with the real program, in order.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;

class Readme : public ToolTest {
 protected:
  Readme() {
    std::ifstream file(CELLAR_SOURCE_DIR "/README.md");
    for (std::string line; std::getline(file, line);) lines_.push_back(line);
    fs::create_directory_symlink(CELLAR_SOURCE_DIR "/examples", path("examples"));
  }

  std::vector<std::string> lines_;
};

struct Shown {
  std::string command;
  size_t first = 0;  // line of the output, and its end
  size_t end = 0;
};

// The `$ cellar` lines of the console blocks, with what is shown below each.
std::vector<Shown> shown_commands(const std::vector<std::string>& lines) {
  std::vector<Shown> all;
  bool inside = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("```")) {
      inside = lines[i] == "```console";
    } else if (inside && lines[i].starts_with("$ ")) {
      all.push_back({lines[i].substr(2), i + 1, i + 1});
    } else if (inside && !all.empty()) {
      all.back().end = i + 1;
    }
  }
  std::erase_if(all, [](const Shown& each) { return !each.command.starts_with("cellar "); });
  return all;
}

// With CELLAR_REWRITE=1 the README gets what the commands print; the diff is the review.
TEST_F(Readme, CommandsPrintWhatItShows) {
  const std::vector<Shown> shown = shown_commands(lines_);
  EXPECT_GE(shown.size(), 8u);
  const bool rewrite = std::getenv("CELLAR_REWRITE") != nullptr;
  std::string text;
  size_t copied = 0;
  for (const Shown& each : shown) {
    const ToolResult result = shell(each.command);
    EXPECT_EQ(result.exit, 0) << each.command << "\n" << result.err;
    if (each.end == each.first) continue;
    std::string expected;
    for (size_t i = each.first; i < each.end; ++i) expected += lines_[i] + "\n";
    if (!rewrite) {
      EXPECT_EQ(result.out + result.err, expected) << each.command;
    }
    for (; copied < each.first; ++copied) text += lines_[copied] + "\n";
    text += result.out + result.err;
    copied = each.end;
  }
  for (; copied < lines_.size(); ++copied) text += lines_[copied] + "\n";
  if (rewrite) std::ofstream(CELLAR_SOURCE_DIR "/README.md") << text;
}

}  // namespace
}  // namespace cellar::testing
