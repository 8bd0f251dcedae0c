// Goal: people see names and values as text, in columns that fit their terminal; programs get exact bytes.
// Method: the real program, its output in files and at a pseudo-terminal of a known size.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/text_width.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
using Display = ToolTest;

std::vector<std::string> screen_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// The column of the terminal at which `word` begins in the line, which holds it.
size_t column_of(const std::string& line, const std::string& word) {
  const size_t at = line.find(word);
  EXPECT_NE(at, std::string::npos) << line << " has no " << word;
  return text_width(std::string_view(line).substr(0, at));
}

class DisplayOfNames : public ToolTest {
 protected:
  void make_cities() const {
    out_of({"create", "db", "t", "d"});
    for (const auto& [row, value] : std::vector<std::pair<std::string, std::string>>{
             {"Zürich", "one"}, {"Oslo", "two"}, {"東京", "three"}, {"e\xCC\x81", "four"}})
      out_of({"put", "db", "t", row, "d:größe", value, "--ts", "5"});
  }
};

TEST_F(DisplayOfNames, TablesShowOtherScriptsAndStayAligned) {
  make_cities();
  const std::vector<std::string> lines = screen_lines(out_of({"scan", "db", "t"}));
  ASSERT_EQ(lines.size(), 5u);
  const size_t values = column_of(lines[0], "value");
  for (const auto& [row, value] : std::vector<std::pair<std::string, std::string>>{
           {"Zürich", "one"}, {"Oslo", "two"}, {"東京", "three"}, {"e\xCC\x81", "four"}}) {
    const auto line = std::ranges::find_if(
        lines, [&start = row](const std::string& each) { return each.starts_with(start); });
    ASSERT_NE(line, lines.end()) << row;
    EXPECT_EQ(column_of(*line, value), values) << *line;
    EXPECT_NE(line->find("d:größe"), std::string::npos) << *line;
  }
  EXPECT_NE(out_of({"get", "db", "t", "Zürich"}).find("Zürich  d:größe"), std::string::npos);
}

TEST_F(DisplayOfNames, FormsForProgramsAreUnchanged) {
  make_cities();
  const std::string escaped = "Z\\xC3\\xBCrich";
  EXPECT_NE(
      out_of({"scan", "db", "t", "--format", "csv"}).find(escaped + ",d,gr\\xC3\\xB6\\xC3\\x9Fe,5,Put,one\n"),
      std::string::npos);
  EXPECT_EQ(out_of({"get", "db", "t", "Zürich", "--format", "jsonl"}),
            R"({"row":"Z\\xC3\\xBCrich","family":"d","qualifier":"gr\\xC3\\xB6\\xC3\\x9Fe",)"
            R"("ts":5,"type":"Put","value":"one"})"
            "\n");
  out_of({"put", "db", "t", "r", "d:q", "Zürich"});
  EXPECT_EQ(out_of({"get", "db", "t", "r", "--format", "raw"}), escaped + "\n");
  EXPECT_EQ(out_of({"get", "db", "t", "r", "--format", "raw", "--as", "text"}), "Zürich\n");
}

// Shown bytes can be typed.
TEST_F(Display, BytesThatAreNoTextAreEscapedAndReadBack) {
  out_of({"create", "db", "t", "d"});
  const std::vector<std::string> rows = {"a\\x00b",    "\\xFF",      "back\\x5Cslash", "\\xE2\\x80\\xAEabc",
                                         "\\xC2\\xA0", "\\xCC\\x81x"};
  for (const std::string& row : rows) out_of({"put", "db", "t", row, "d:q", row});
  const std::string table = out_of({"scan", "db", "t"});
  for (const std::string& row : rows) {
    EXPECT_NE(table.find(row + " "), std::string::npos) << row << " in " << table;
    EXPECT_EQ(run({"get", "db", "t", row}).exit, 0) << row;
  }
}

TEST_F(Display, DecodeShowsKeysEverywhere) {
  make_shop();
  out_of({"flush", "shop"});
  const std::string hex = "757365723432";  // user42
  EXPECT_NE(out_of({"get", "shop", "orders", "user42", "--decode", "row=hex"}).find(hex), std::string::npos);
  EXPECT_NE(out_of({"scan", "shop", "orders", "--decode", "row=hex"}).find(hex), std::string::npos);
  EXPECT_NE(out_of({"dump", "shop", "--decode", "row=hex"}).find(hex), std::string::npos);
  EXPECT_NE(out_of({"stats", "shop", "--decode", "row=hex"}).find(hex), std::string::npos);
  EXPECT_NE(out_of({"find", "user42", "shop", "--decode", "qualifier=hex"}).find("d:6e616d65"),
            std::string::npos);
  const ToolResult differ = run({"diff", "shop/tables/1/d", "shop/tables/1/c", "--decode", "row=hex"});
  EXPECT_EQ(differ.exit, 1) << differ.err;
  EXPECT_NE(differ.out.find(hex), std::string::npos) << differ.out;
  EXPECT_EQ(error_of({"scan", "shop", "orders", "--decode", "row=hex"}, 2)["code"], "CEL-USAGE");
  EXPECT_EQ(run({"scan", "shop", "orders", "--decode", "row=roman"}).exit, 2);
  out_of({"incr", "shop", "orders", "user42", "c:visits", "7"});
  EXPECT_NE(out_of({"scan", "shop", "orders", "--decode", "c:visits=long"}).find("  7\n"), std::string::npos);
}

TEST_F(Display, ATerminalCutsValuesAndNothingElseDoes) {
  const std::string value = std::string(60, 'a') + std::string(60, 'b') + "the end";
  out_of({"create", "db", "t", "d"});
  out_of({"put", "db", "t", "r", "d:q", value});
  const std::string whole = out_of({"scan", "db", "t"});
  EXPECT_NE(whole.find(value), std::string::npos) << "not a terminal";
  const TerminalOptions narrow = {.columns = 60};
  const std::string cut = on_terminal({"scan", "db", "t"}, narrow);
  for (const std::string& line : screen_lines(cut)) {
    if (!line.starts_with("note")) {
      EXPECT_LE(text_width(line), 60u) << line;
    }
  }
  EXPECT_NE(cut.find("a…"), std::string::npos) << cut;
  EXPECT_NE(cut.find("--full"), std::string::npos) << cut;
  const std::string full = on_terminal({"scan", "db", "t", "--full"}, narrow);
  EXPECT_NE(full.find(value), std::string::npos) << full;
  EXPECT_EQ(full.find("--full"), std::string::npos) << full;
  EXPECT_NE(on_terminal({"scan", "db", "t", "--format", "jsonl"}, narrow).find(value), std::string::npos);
  const std::string shell = on_terminal({"shell", "db", "-c", "scan t; .full on; scan t"}, narrow);
  EXPECT_NE(shell.find("a…"), std::string::npos) << shell;
  EXPECT_NE(shell.find(value), std::string::npos) << shell;
}

TEST_F(Display, WideCharactersAreCutBetweenThem) {
  std::string value;
  for (int i = 0; i < 60; ++i) value += "東";
  out_of({"create", "db", "t", "d"});
  out_of({"put", "db", "t", "r", "d:q", value});
  for (const unsigned short columns : {60, 61}) {
    const std::string cut = on_terminal({"get", "db", "t", "r"}, {.columns = columns});
    const std::vector<std::string> lines = screen_lines(cut);
    ASSERT_GE(lines.size(), 2u);
    EXPECT_TRUE(lines[1].ends_with("東…")) << lines[1];
    EXPECT_LE(text_width(lines[1]), columns);
    EXPECT_GE(text_width(lines[1]), columns - 1u);
  }
}

TEST_F(Display, ColoursAreForTerminalsThatWantThem) {
  make_shop();
  const std::string escape = "\x1b[";
  const TerminalOptions colours = {.environment = {{"NO_COLOR", ""}}};
  EXPECT_NE(on_terminal({"scan", "shop", "orders"}, colours).find("\x1b[1mrow"), std::string::npos);
  EXPECT_NE(on_terminal({"verify", example_file("versions.hfile")}, colours).find("\x1b[32mok\x1b[0m"),
            std::string::npos);
  EXPECT_NE(on_terminal({"scan", "shop", "none"}, colours).find("\x1b[1;31merror\x1b[0m"), std::string::npos);
  EXPECT_EQ(on_terminal({"scan", "shop", "orders", "--format", "jsonl"}, colours).find(escape),
            std::string::npos);
  for (const TerminalOptions& plain :
       {TerminalOptions{.environment = {{"NO_COLOR", "1"}}},
        TerminalOptions{.environment = {{"NO_COLOR", ""}, {"TERM", "dumb"}}}}) {
    EXPECT_EQ(on_terminal({"scan", "shop", "orders"}, plain).find(escape), std::string::npos);
    EXPECT_EQ(on_terminal({"scan", "shop", "none"}, plain).find(escape), std::string::npos);
  }
  EXPECT_EQ(on_terminal({"scan", "shop", "none", "--color", "never"}, colours).find(escape),
            std::string::npos);
  EXPECT_EQ(out_of({"scan", "shop", "orders"}).find(escape), std::string::npos) << "not a terminal";
  EXPECT_NE(out_of({"scan", "shop", "orders", "--color", "always"}).find("\x1b[1mrow"), std::string::npos);
  EXPECT_EQ(out_of({"scan", "shop", "orders", "--color", "always", "--format", "csv"}).find(escape),
            std::string::npos);
}

// The pager of the test marks what passes through it.
class DisplayPager : public ToolTest {
 protected:
  std::string paged(const std::vector<std::string>& line, const std::string& pager = "sed s/^/>/") const {
    return on_terminal(line, {.rows = 10, .environment = {{"CELLAR_PAGER", pager}}});
  }
  void make_rows(size_t rows) const {
    out_of({"create", "db", "t", "d"});
    std::string cells;
    for (size_t i = 0; i < rows; ++i)
      cells += "{\"row\":\"row" + std::to_string(1000 + i) +
               "\",\"family\":\"d\",\"qualifier\":\"q\",\"ts\":1,\"type\":\"Put\",\"value\":\"v\"}\n";
    out_of({"load", "db", "t", "-", "--quiet"}, cells);
  }
};

TEST_F(DisplayPager, OnlyLongAnswersAtATerminalGoThroughIt) {
  make_rows(30);
  const std::string table = paged({"scan", "db", "t"});
  EXPECT_NE(table.find(">row1029"), std::string::npos) << table;
  EXPECT_NE(table.find("\n30 rows, 30 cells"), std::string::npos) << "after the pager: " << table;
  EXPECT_NE(paged({"scan", "db", "t", "--format", "jsonl"}).find(">{\"row\":\"row1029\""), std::string::npos);
  EXPECT_NE(paged({"scan", "--help"}).find(">usage:"), std::string::npos);
  EXPECT_EQ(paged({"scan", "db", "t", "--limit", "3"}).find('>'), std::string::npos) << "short";
  EXPECT_EQ(paged({"scan", "db", "t", "--no-pager"}).find('>'), std::string::npos);
  EXPECT_EQ(paged({"scan", "db", "t"}, "").find('>'), std::string::npos);
  EXPECT_EQ(paged({"scan", "db", "t"}, "cat").find('>'), std::string::npos);
  EXPECT_NE(paged({"scan", "db", "t"}, "no-such-program").find("row1029"), std::string::npos)
      << "shown all the same";
  EXPECT_EQ(out_of({"scan", "db", "t"}).find('>'), std::string::npos) << "not a terminal";
}

TEST_F(DisplayPager, WhoLeavesItEndsTheWork) {
  make_rows(5000);
  const std::string seen = paged({"scan", "db", "t", "--format", "jsonl"}, "head -2");
  EXPECT_EQ(std::ranges::count(seen, '\n'), 2) << seen;
}

TEST_F(DisplayPager, TheShellPagesEachAnswer) {
  make_rows(30);
  const std::string seen = paged({"shell", "db", "-c", "scan t; .pager off; scan t"});
  EXPECT_NE(seen.find(">row1029"), std::string::npos) << seen;
  EXPECT_NE(seen.find("\nrow1029"), std::string::npos) << seen;
}

TEST_F(Display, NounsHaveTheirNumber) {
  EXPECT_NE(run({"verify", example_file("versions.hfile")}).err.find("1 file sound"), std::string::npos);
  make_shop();
  out_of({"create", "shop", "t", "d"});
  out_of({"put", "shop", "t", "r", "d:q", "v"});
  const std::string flushed = run({"flush", "shop", "t"}).err;
  EXPECT_NE(flushed.find(": 1 store file, "), std::string::npos) << flushed;
  EXPECT_EQ(run({"create", "shop", "two", "d", "c"}).err, "created table two with 2 families\n");
  EXPECT_EQ(run({"create", "shop", "one", "d"}).err, "created table one with 1 family\n");
}

TEST_F(Display, JsonHasListsAndNumbers) {
  make_shop();
  EXPECT_EQ(json_of({"list", "shop"})["tables"][0]["families"], Json::array({"c", "d"}));
  EXPECT_NE(out_of({"list", "shop", "--format", "csv"}).find("\norders,\"c,d\","), std::string::npos);
  EXPECT_TRUE(json_of({"compact", "shop"})["tables"][0]["micros"].is_number_integer());
  const Json options = json_of({"describe", "shop", "orders"})["tables"][0]["families"][1]["options"];
  EXPECT_EQ(options["max_versions"], 3);
  EXPECT_EQ(options["in_memory"], false);
  EXPECT_EQ(options["encoding"], "none");
  out_of({"snapshot", "create", "shop", "sn"});
  EXPECT_EQ(json_of({"snapshot", "list", "shop"})["snapshots"][0]["tables"],
            Json::array({"orders", "people"}));
  EXPECT_EQ(json_of({"shell", "shop", "-c", "exists orders"})["answers"][0]["value"], true);
}

TEST_F(Display, ErrorsOfTheShellPointIntoTheLine) {
  make_shop();
  const ToolResult second = run({"shell", "shop", "-c", "count orders; scan nowhere"});
  EXPECT_NE(second.err.find("line 1, column 20\n"), std::string::npos) << second.err;
  const ToolResult wide = run({"shell", "shop", "-c", "put orders '東京' d:q v nonsense"});
  const std::vector<std::string> lines = screen_lines(wide.err);
  const auto caret = std::ranges::find_if(lines, [](const std::string& line) { return line.ends_with('^'); });
  ASSERT_NE(caret, lines.end()) << wide.err;
  EXPECT_EQ(caret->size() - 1, column_of(*(caret - 1), "nonsense")) << wide.err;
}

}  // namespace
}  // namespace cellar::testing
