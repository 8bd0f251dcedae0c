// Goal: help that is short, complete and true: every command has it, it fits a screen, and its examples work.
// Method: the list of `cellar help` is the list of commands; each example runs in a directory with the files
// it names.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

class Help : public ToolTest {
 protected:
  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    std::istringstream lines(out_of({"help"}));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return names;
  }

  static std::vector<std::string> examples_of(const std::string& help) {
    std::vector<std::string> examples;
    const size_t at = help.find("\nexamples\n");
    if (at == std::string::npos) return examples;
    std::istringstream lines(help.substr(at + 10));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  cellar ")) examples.push_back(line.substr(2));
    }
    return examples;
  }

  // Everything that examples speak of.
  void furnish() const {
    make_shop();
    out_of({"snapshot", "create", "shop", "yesterday"});
    out_of({"put", "shop", "orders", "user42", "d:name", "Ada"});
    out_of({"incr", "shop", "orders", "user42", "c:visits", "5", "c:stock", "3"});
    out_of({"flush", "shop"});
    out_of({"feed", "create", "shop", "audit"});
    write_file("cells.jsonl",
               R"({"row":"user44","family":"d","qualifier":"name","ts":5,"type":"Put","value":"Kurt"})"
               "\n");
    write_file("people.csv", "id,name,email\nuser1,Ada,ada@example.org\n");
    write_file("splits.txt", "user42\n");
    out_of({"export", "shop", "orders", "--to", "hfile", "-o", "load", "--splits", "splits.txt"});
    write_file("bench.json",
               R"({"benchmarks":[{"name":"get/cache:warm/k:1","real_time":2.5,"time_unit":"us"}]})");
    write_file("driver.jsonl", R"({"kind":"result","peer":"cellar","workload":"scan","rate":1000})");
    for (const char* name : {"versions.hfile", "weblog.hfile"})
      std::filesystem::copy(example_file(name), path(name));
  }
};

TEST_F(Help, EveryCommandFitsAScreenAndHasTwoExamples) {
  const std::vector<std::string> names = commands();
  EXPECT_GE(names.size(), 20u);
  for (const std::string& name : names) {
    const std::string help = out_of({name, "--help"});
    EXPECT_EQ(help, out_of({"help", name}));
    EXPECT_EQ(help.rfind("usage: cellar " + name, 0), 0u);
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 38) << help;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(columns, 120) << line;
    }
    EXPECT_GE(examples_of(help).size(), 2u) << help;
  }
}

TEST_F(Help, EveryExampleWorks) {
  furnish();
  ASSERT_EQ(
      shell("mkdir rooms; mkdir .template; cp -r shop load *.json *.jsonl *.csv *.txt *.hfile .template")
          .exit,
      0);
  for (const std::string& name : commands()) {
    for (const std::string& example : examples_of(out_of({name, "--help"}))) {
      ASSERT_EQ(shell("rm -rf rooms && cp -r .template rooms").exit, 0);
      const bool makes_people = example.find("create shop people") != std::string::npos;
      const ToolResult result =
          shell((makes_people ? "cd rooms && cellar drop shop people -q && " : "cd rooms && ") + example);
      EXPECT_EQ(result.exit, 0) << example << "\n" << result.err;
    }
  }
}

TEST_F(Help, TopicsExist) {
  for (const char* topic : {"formats", "filters", "times", "limits", "hbase", "exit-codes"})
    EXPECT_NE(out_of({"help", topic}), "");
  EXPECT_EQ(error_of({"help", "exit-code"}, 2).value("code", ""), "CEL-USAGE");
}

}  // namespace
}  // namespace cellar::testing
