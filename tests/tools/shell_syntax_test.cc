// Goal: the shell's language is read as HBase's shell would, errors point at their place, and no input,
// however long, deep or broken, harms. Method: statements and what becomes of them as text; random bytes, cut
// in random pieces.
#include "tools/shell/shell_syntax.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/support/address_space.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

std::string text_of(const ShellValue& value) {
  std::string items;
  for (const ShellValue& item : value.items) items += (items.empty() ? "" : ",") + text_of(item);
  switch (value.kind) {
    case ShellValue::Kind::kWord:
      return value.text;
    case ShellValue::Kind::kText:
      return "<" + value.text + ">";
    case ShellValue::Kind::kList:
      return "[" + items + "]";
    case ShellValue::Kind::kMap:
      return "{" + items + "}";
    case ShellValue::Kind::kPair:
      return value.text + "=>" + items;
  }
  return "";
}

// "put <t> r", or "14: the message".
std::string parsed(std::string_view text) {
  size_t fault_at = 0;
  const Result<ShellStatement> statement = parse_shell_statement(text, fault_at);
  if (!statement.ok()) return std::to_string(fault_at) + ": " + std::string(statement.status().message());
  std::string all = statement->name;
  for (const ShellValue& value : statement->arguments) all += " " + text_of(value);
  return all;
}

std::string hint(std::string_view text) {
  size_t fault_at = 0;
  return std::string(parse_shell_statement(text, fault_at).status().hint());
}

std::vector<std::string> split(std::string_view text, size_t piece = SIZE_MAX) {
  ShellSplitter splitter;
  std::vector<std::string> all;
  std::string statement;
  size_t line = 0;
  for (size_t at = 0; at < text.size(); at += std::min(piece, text.size() - at)) {
    splitter.add(text.substr(at, piece));
    while (splitter.next(statement, line)) all.push_back(std::to_string(line) + "|" + statement);
  }
  splitter.finish();
  while (splitter.next(statement, line)) all.push_back(std::to_string(line) + "|" + statement);
  EXPECT_FALSE(splitter.pending());
  return all;
}

TEST(ShellSyntax, ValuesAreHBases) {
  EXPECT_EQ(parsed("put 't1', 'r1', \"c1:q\", 'value', 15"), "put <t1> <r1> <c1:q> <value> 15");
  EXPECT_EQ(parsed("get 't1','r1',{COLUMN=>['c1','c2'],VERSIONS=>4}"),
            "get <t1> <r1> {COLUMN=>[<c1>,<c2>],VERSIONS=>4}");
  EXPECT_EQ(parsed("get 't1', 'r1' {A => {'k' => nil}, }"), "get <t1> <r1> {A=>{k=>nil}}");
  EXPECT_EQ(parsed("alter 't', NAME => 'f', 'delete' => 'g'"), "alter <t> NAME=><f> delete=><g>");
  EXPECT_EQ(parsed("  scan('t', LIMIT => 2)  # all"), "scan <t> LIMIT=>2");
  EXPECT_EQ(parsed("  # nothing"), "");
  EXPECT_EQ(parsed("put 't',\n 'r', # why\n 'c' \\\n 'v'"), "put <t> <r> <c> <v>");
}

TEST(ShellSyntax, PlainWordsAreValues) {
  EXPECT_EQ(parsed("put t1 r1 c1:q it's"), "put t1 r1 c1:q it's");
  EXPECT_EQ(parsed("scan t columns=d limit=3 filter=\"PageFilter(1)\" x=[1,2]"),
            "scan t columns=d limit=3 filter=><PageFilter(1)> x=>[1,2]");
  EXPECT_EQ(parsed("put t \\x41\\x42 c:q a#b"), "put t AB c:q a#b");
  EXPECT_EQ(parsed("list abc.(d|e)"), "list abc.(d|e)");
}

TEST(ShellSyntax, EscapesAreRubys) {
  EXPECT_EQ(parsed(R"(put "\x41\t\101\u00e9\u{1F600}\"\\\q")"), "put <A\tA\xC3\xA9\xF0\x9F\x98\x80\"\\q>");
  EXPECT_EQ(parsed(R"(put '\x41\'\\\n')"), R"(put <\x41'\\n>)");
  EXPECT_EQ(parsed(R"(put "\x4")"), "put <\x04>");
  EXPECT_EQ(parsed("put \"a\\0b\""), std::string("put <a\0b>", 9));
}

TEST(ShellSyntax, ABackslashJoinsLinesInDoubleQuotes) {
  EXPECT_EQ(parsed("put \"one\\\ntwo\""), "put <onetwo>");
  EXPECT_EQ(parsed("put \"one\\\r\ntwo\\\n\\\n  three\""), "put <onetwo  three>");
  EXPECT_EQ(parsed("put \"one\\\\\ntwo\""), "put <one\\\ntwo>") << "that backslash is one itself";
  EXPECT_EQ(parsed("put \"one\\\rtwo\""), "put <one\rtwo>");
  EXPECT_EQ(parsed("put 'one\\\ntwo'"), "put <one\\\ntwo>");
}

TEST(ShellSyntax, CommentsBeginOutsideQuotesAndWords) {
  EXPECT_EQ(parsed("put 'a', 'b'# c, 'd"), "put <a> <b>");
  EXPECT_EQ(parsed("put 'a',# c 'x\n'b'"), "put <a> <b>");
  EXPECT_EQ(parsed("get {A => 1}# c"), "get {A=>1}");
  EXPECT_EQ(parsed("get {A =># why\n 'x'#\n,# }\n B => [1, 2 #]\n]}"), "get {A=><x>,B=>[1,2]}");
  EXPECT_EQ(parsed("scan(# (\n't')# all"), "scan <t>");
  EXPECT_EQ(parsed("list# all"), "list");
  EXPECT_EQ(parsed("put a#b x=c#d 'e#f' \"#\""), "put a#b x=c#d <e#f> <#>");
  EXPECT_EQ(split("a 'b'# it's; 'c\nd"), (std::vector<std::string>{"1|a 'b'# it's; 'c", "2|d"}));
  EXPECT_EQ(split("list# it's; 'c\nd"), (std::vector<std::string>{"1|list# it's; 'c", "2|d"}));
  EXPECT_EQ(split("a b#c; d"), (std::vector<std::string>{"1|a b#c", "1| d"}));
  EXPECT_EQ(split("a [1,# ]\n2]# [\nd"), (std::vector<std::string>{"1|a [1,# ]\n2]# [", "3|d"}));
}

TEST(ShellSyntax, AQuoteThatSwallowsALineIsNamed) {
  EXPECT_EQ(parsed("put 't', 'r', 'f:a', 'v\nput 't', 'x'"),
            "21: this quote closes in the line below, and no comma or blank follows");
  EXPECT_EQ(parsed("create 't', {NAME => 'f}\nlist\ncreate 'u', 'g'"),
            "21: this quote closes 2 lines below, and no comma or blank follows");
  EXPECT_EQ(parsed("put 't', [1, 'f]\nget 'u'"),
            "13: this quote closes in the line below, and no comma or blank follows");
  EXPECT_EQ(parsed("put 't',\n 'a'b"), "13: a comma or a blank is missing here");
  EXPECT_EQ(parsed("put ['a\nb' 'c']"), "11: expected a comma or ]");
}

TEST(ShellSyntax, FaultsHaveTheirPlace) {
  EXPECT_EQ(parsed("put 't', 'r"), "9: the quote that opens here is not closed");
  EXPECT_EQ(parsed("put 't', , 'r'"), "9: a value is missing before this comma");
  EXPECT_EQ(parsed("put 't',"), "7: a value is missing after this comma");
  EXPECT_EQ(parsed("put 'a'b'"), "7: a comma or a blank is missing here");
  EXPECT_EQ(parsed("scan 't', {LIMIT => 1"), "10: the { that opens here is not closed");
  EXPECT_EQ(parsed("scan 't', {LIMIT}"), "11: expected pairs between { and }");
  EXPECT_EQ(parsed("scan 't', [A => 1]"), "11: expected values between [ and ], not pairs");
  EXPECT_EQ(parsed("scan 't', [1,,2]"), "13: a value is missing here");
  EXPECT_EQ(parsed("scan 't' ]"), "9: unexpected ]: no bracket is open");
  EXPECT_EQ(parsed("scan A => "), "9: the value of A is missing");
  EXPECT_EQ(parsed("put \"\\u12\""), "5: \\u is followed by the number of a character");
  EXPECT_EQ(parsed("put \"\\u{110000}\""), "5: \\u is followed by the number of a character");
  EXPECT_EQ(parsed("'put'"), "0: expected a command");
  EXPECT_EQ(parsed("x = 5"), "0: the shell runs commands, not Ruby: it has no variables");
  EXPECT_EQ(parsed("t.scan"), "1: the shell runs commands, not Ruby: it has no methods");
  EXPECT_EQ(parsed("scan 't', {FILTER => org.apache.ColumnPaginationFilter.new(1, 0)}"),
            "21: the shell runs commands, not Ruby: it cannot create Java objects");
  EXPECT_EQ(hint("scan 't', {FILTER => org.apache.ColumnPaginationFilter.new(1, 0)}"),
            "write FILTER => \"ColumnPaginationFilter(1, 0)\" (cellar help filters)");
  EXPECT_EQ(hint("scan 't', {FILTER => PrefixFilter.new(Bytes.toBytes('a'))}"),
            "write FILTER => \"PrefixFilter(…)\" (cellar help filters)");
  EXPECT_EQ(parsed("put t r f:q a.new(1"), "put t r f:q a.new(1");
  EXPECT_EQ(parsed("scan('t'"), "8: the parenthesis after the command is not closed");
  EXPECT_EQ(parsed("scan('t') 'u'"), "10: unexpected text after the closing parenthesis");
}

TEST(ShellSyntax, DepthIsBounded) {
  const auto nested = [](size_t depth) {
    return "x " + std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_EQ(parsed(nested(kShellDepthMax)), nested(kShellDepthMax));
  EXPECT_EQ(parsed(nested(kShellDepthMax + 1)), "66: brackets are nested deeper than 64");
  EXPECT_EQ(parsed("x " + std::string(1 << 20, '[')), "66: brackets are nested deeper than 64");
  std::string maps = "x ";
  for (int i = 0; i < 100000; ++i) maps += "{A=>";
  EXPECT_EQ(parsed(maps), "258: brackets are nested deeper than 64");
}

TEST(ShellSplitter, EndsAreOutsideQuotesAndBrackets) {
  EXPECT_EQ(split("a; b 'x;y'\n\n# c\nd {\n1 => ';'}\ne"),
            (std::vector<std::string>{"1|a", "1| b 'x;y'", "4|d {\n1 => ';'}", "6|e"}));
  EXPECT_EQ(split("put 't', # why; not\n 'r'\nb"),
            (std::vector<std::string>{"1|put 't', # why; not\n 'r'", "3|b"}));
  EXPECT_EQ(split("a b \\\n c\nd =>\n 1"), (std::vector<std::string>{"1|a b \\\n c", "3|d =>\n 1"}));
  EXPECT_EQ(split("put t it's\nb"), (std::vector<std::string>{"1|put t it's", "2|b"}));
  EXPECT_EQ(split("put(1,\n(2)\n)\nb"), (std::vector<std::string>{"1|put(1,\n(2)", "3|)", "4|b"}));
  EXPECT_EQ(split("a 'open\nb\n"), (std::vector<std::string>{"1|a 'open\nb\n"}));
}

TEST(ShellSplitter, AByteOrderMarkIsSkipped) {
  for (size_t piece = 1; piece < 6; ++piece) {
    EXPECT_EQ(split("\xEF\xBB\xBFlist\na", piece), (std::vector<std::string>{"1|list", "2|a"}));
    EXPECT_EQ(split("\xEF\xBB\xBF", piece), std::vector<std::string>{});
    EXPECT_EQ(split("\xEF\xBB", piece), std::vector<std::string>{"1|\xEF\xBB"});
    EXPECT_EQ(split("a\n\xEF\xBB\xBFlist", piece), (std::vector<std::string>{"1|a", "2|\xEF\xBB\xBFlist"}));
  }
}

// Each piece of text is looked at once: 16 MiB within one statement are soon read, and many statements too.
TEST(ShellSplitter, LongInputTakesLinearTime) {
  const size_t bytes = (16u << 20) / static_cast<size_t>(kSanitized ? 16 : 1);
  EXPECT_EQ(split("put 'x" + std::string(bytes, '\n'), 4096).size(), 1u);
  std::string many;
  while (many.size() < bytes) many += "put 't', 'row', 'c:q', 'value'\n";
  EXPECT_EQ(split(many, 65536).size(), (many.size() / 31));
  EXPECT_EQ(parsed("put " + std::string(bytes, 'x')).size(), bytes + 4);
  EXPECT_EQ(parsed("put [" + std::string(bytes, ',')), "5: a value is missing here");
}

// The parser never finds an open statement that the splitter takes for whole, except for parentheses.
TEST(ShellSplitter, AgreesWithTheParserOnAnyInput) {
  constexpr std::string_view kPieces[] = {"put", " ",  " ", "'", "\"", "\\", "{", "}",     "[",    "]",
                                          ",",   "=>", "=", "#", "\n", ";",  "x", "\\x41", "\xFF", "A => 1"};
  Random random(20261122);
  for (uint64_t round = 0; round < scaled(200000); ++round) {
    std::string text = "a ";
    for (uint64_t i = random.below(24); i > 0; --i) text += kPieces[random.below(std::size(kPieces))];
    std::vector<std::string> statements = split(text);
    EXPECT_EQ(statements, split(text, 1 + random.below(5))) << text;
    if (statements.empty()) continue;
    statements.pop_back();  // it may be open
    for (const std::string& statement : statements) {
      const std::string answer = parsed(statement.substr(statement.find('|') + 1));
      EXPECT_EQ(answer.find("quote that opens"), std::string::npos) << text << "\n" << statement;
      EXPECT_EQ(answer.find("that opens here"), std::string::npos) << text << "\n" << statement;
    }
  }
}

}  // namespace
}  // namespace cellar::testing
