// Goal: Tab offers what can stand at the cursor and nothing else, closes quotes, and never breaks what is
// typed. Method: lines with a | at the cursor, and what they become or what is offered; then random lines.
#include "tools/shell/shell_completion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "tests/support/test_scale.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

ShellNames shop() {
  ShellNames names;
  names.tables = {"orders", "orders_old", "people", "it's"};
  names.snapshots = {"before", "monday"};
  names.families = [](const std::string& table) {
    return table == "orders" ? std::vector<std::string>{"c", "d", "detail"} : std::vector<std::string>{};
  };
  names.files = [](const std::string& start) {
    std::vector<std::string> found;
    for (const char* const path : {"make.hbase", "more/"})
      if (std::string_view(path).starts_with(start)) found.emplace_back(path);
    return found;
  };
  return names;
}

ShellCompletion complete(const std::string& line) {
  const size_t cursor = line.find('|');
  EXPECT_NE(cursor, std::string::npos) << line;
  return complete_shell(line.substr(0, cursor) + line.substr(cursor + 1), cursor, shop());
}

// All that is offered, between bars.
std::string offered(const std::string& line) {
  std::string all;
  for (const std::string& each : complete(line).candidates) all += (all.empty() ? "" : "|") + each;
  return all;
}

// The line after Tab, which inserts what all candidates begin with.
std::string after_tab(const std::string& line) {
  const ShellCompletion found = complete(line);
  const size_t cursor = line.find('|');
  const std::string common = common_start(found.candidates);
  if (common.size() <= cursor - found.from) return line.substr(0, cursor) + line.substr(cursor + 1);
  return line.substr(0, found.from) + common + line.substr(cursor + 1);
}

TEST(ShellCompletion, WhatIsCommonEndsWithAWholeCharacter) {
  EXPECT_EQ(common_start({"gr\xC3\xA9", "gr\xC3\xA8"}), "gr");
  EXPECT_EQ(common_start({"gr\xC3\xA9x", "gr\xC3\xA9y"}), "gr\xC3\xA9");
  EXPECT_EQ(common_start({"\xFF"
                          "a",
                          "\xFF"
                          "b"}),
            "\xFF");
}

TEST(ShellCompletion, CommandsStandAtTheBeginningOnly) {
  EXPECT_EQ(after_tab("desc|"), "desc");
  EXPECT_EQ(offered("desc|"), "desc |describe ");
  EXPECT_EQ(after_tab("descr|"), "describe ");
  EXPECT_EQ(after_tab("  major|"), "  major_compact ");
  EXPECT_EQ(after_tab("list; majo|"), "list; major_compact ");
  EXPECT_EQ(after_tab(".expl|"), ".explain ");
  EXPECT_EQ(offered("scan 'orders', sca|"), "");
  EXPECT_EQ(offered("nonsense |"), "");
  EXPECT_EQ(offered("'de|"), "") << "a command has no quotes";
  EXPECT_EQ(after_tab("help 'describ|"), "help 'describe'");
}

TEST(ShellCompletion, TablesCloseTheirQuote) {
  EXPECT_EQ(after_tab("describe 'p|"), "describe 'people'");
  EXPECT_EQ(after_tab("describe 'p|'"), "describe 'people'");
  EXPECT_EQ(after_tab("describe \"p|"), "describe \"people\"");
  EXPECT_EQ(after_tab("describe p|"), "describe people ");
  EXPECT_EQ(after_tab("describe 'o|"), "describe 'orders");
  EXPECT_EQ(offered("describe 'o|"), "orders'|orders_old'");
  EXPECT_EQ(offered("describe 'i|"), "") << "a name that must be escaped is left to the person";
  EXPECT_EQ(offered("describe 'people', 'p|"), "") << "it takes one table";
  EXPECT_EQ(offered("create 'o|"), "orders'|orders_old'") << "as a beginning of another name";
  EXPECT_EQ(after_tab("scan('p|"), "scan('people'");
  EXPECT_EQ(offered("delete_snapshot 'b|"), "before'");
  EXPECT_EQ(offered("clone_snapshot 'm|"), "monday'");
  EXPECT_EQ(offered("snapshot 'p|"), "people'");
}

TEST(ShellCompletion, FamiliesAreThoseOfTheTable) {
  EXPECT_EQ(offered("get 'orders', 'row', '|"), "c:|d:|detail:");
  EXPECT_EQ(after_tab("get 'orders', 'row', 'c|"), "get 'orders', 'row', 'c:");
  EXPECT_EQ(offered("get 'orders', 'row', 'c:a', 'd|"), "d:|detail:");
  EXPECT_EQ(offered("get 'orders', 'row', ['c', 'det|"), "detail:");
  EXPECT_EQ(offered("get 'people', 'row', '|"), "");
  EXPECT_EQ(after_tab("put orders row c|"), "put orders row c:");
  EXPECT_EQ(after_tab("flush 'orders', 'c|"), "flush 'orders', 'c'");
  EXPECT_EQ(after_tab("scan 'orders', {COLUMNS => 'c|"), "scan 'orders', {COLUMNS => 'c:");
  EXPECT_EQ(offered("scan 'orders', {COLUMNS => ['c', 'de|"), "detail:");
  EXPECT_EQ(after_tab("scan orders columns=c|"), "scan orders columns=c:");
  EXPECT_EQ(after_tab("alter 'orders', {NAME => 'c|"), "alter 'orders', {NAME => 'c'");
  EXPECT_EQ(offered("get 'orders', '|"), "") << "rows are not offered";
  EXPECT_EQ(offered("get 'orders', 'row', 'd', |").find("'c:|'d:|'detail:"), 0u);
}

TEST(ShellCompletion, OptionsAreThoseOfTheCommand) {
  EXPECT_EQ(after_tab("scan 'orders', {LIM|"), "scan 'orders', {LIMIT => ");
  EXPECT_EQ(after_tab("scan 'orders', {LIMIT => 1, REV|"), "scan 'orders', {LIMIT => 1, REVERSED => ");
  EXPECT_EQ(after_tab("scan 'orders', LIM|"), "scan 'orders', LIMIT => ");
  EXPECT_EQ(after_tab("scan orders lim|"), "scan orders limit=");
  EXPECT_EQ(offered("get 'orders', 'row', {LIM|"), "") << "get has no LIMIT";
  EXPECT_NE(offered("scan 'orders', {|").find("VERSIONS => "), std::string::npos);
  EXPECT_EQ(offered("scan 'orders', {LIMIT => |"), "");
  EXPECT_EQ(offered("scan 'orders', {REVERSED => |"), "false|true");
  EXPECT_EQ(after_tab("alter 'orders', {NAME => 'd', BLOOMF|"),
            "alter 'orders', {NAME => 'd', BLOOMFILTER => ");
  EXPECT_EQ(offered("create 't', {NAME => 'd', CONFIGURATION => {'VER|"), "");
  EXPECT_EQ(offered("scan 'orders', {'LIM|"), "");
  EXPECT_EQ(after_tab("scan 'orders', {FILTER => \"PageFilter(1) AND Fuzz|"),
            "scan 'orders', {FILTER => \"PageFilter(1) AND FuzzyRowFilter(");
  EXPECT_EQ(after_tab("scan 'orders',\n  {STARTROW => 'a',\n LIM|"),
            "scan 'orders',\n  {STARTROW => 'a',\n LIMIT => ");
}

TEST(ShellCompletion, FilesAndWords) {
  EXPECT_EQ(after_tab(".read ma|"), ".read make.hbase ");
  EXPECT_EQ(after_tab(".read 'mak|"), ".read 'make.hbase'");
  EXPECT_EQ(after_tab(".output mo|"), ".output more/");
  EXPECT_EQ(offered(".format js|"), "json |jsonl ");
  EXPECT_EQ(after_tab(".explain of|"), ".explain off ");
  EXPECT_EQ(after_tab("status 'su|"), "status 'summary'");
}

class ShellCompletionPaths : public ToolTest {};

TEST_F(ShellCompletionPaths, AreThoseOfTheFileSystem) {
  std::filesystem::create_directory(path("folder"));
  std::ofstream(path("file.hbase")) << "list\n";
  const std::string here = path("").string();
  std::vector<std::string> found = paths_beginning(here + "f");
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::string>{here + "file.hbase", here + "folder/"}));
  EXPECT_TRUE(paths_beginning(here + "nothing/here").empty());
}

// Whatever is typed: what is offered begins with what stands there, and the place is within the line.
TEST(ShellCompletion, KeepsWhatIsTypedOnAnyInput) {
  constexpr std::string_view kPieces[] = {
      "scan", "get", " ",  " ", "'",      "\"",  "\\",     "{",           "}", "[", "]",  ",",   "=>",
      "=",    "#",   "\n", ";", "orders", "LIM", "FILTER", "COLUMNS => ", "(", ")", "d:", "\xFF"};
  Random random(20261122);
  uint64_t offers = 0;
  for (uint64_t round = 0; round < scaled(100000); ++round) {
    std::string text;
    for (uint64_t i = random.below(16); i > 0; --i) text += kPieces[random.below(std::size(kPieces))];
    const size_t cursor = random.below(text.size() + 1);
    const ShellCompletion found = complete_shell(text, cursor, shop());
    if (found.candidates.empty()) continue;
    ASSERT_LE(found.from, cursor) << text;
    const std::string typed = text.substr(found.from, cursor - found.from);
    for (const std::string& each : found.candidates)
      EXPECT_TRUE(typed.find('\\') != std::string::npos || each.starts_with(typed)) << text << "|" << each;
    offers += found.candidates.size();
  }
  EXPECT_GT(offers, 0u);
}

}  // namespace
}  // namespace cellar::testing
