// Goal: the contract of the command line: exit statuses, errors with code, place and hint, the nearest name,
// streams. Method: one case for each promise, with the real program.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
class Contract : public ToolTest {
 protected:
  // Makes the store "db" with the table "t" of 20,000 rows: longer than any pipe or buffer.
  void make_long_table() const {
    out_of({"create", "db", "t", "d"});
    std::string cells;
    for (int i = 0; i < 20000; ++i)
      cells += "{\"row\":\"row" + std::to_string(100000 + i) +
               "\",\"family\":\"d\",\"qualifier\":\"q\",\"ts\":1,\"type\":\"Put\",\"value\":\"v\"}\n";
    out_of({"load", "db", "t", "-", "--quiet"}, cells);
  }
};

struct ContractCase {
  std::vector<std::string> arguments;
  int exit;
  std::string code;
  std::string hint;  // part of it
};

TEST_F(Contract, ErrorsHaveCodeExitAndHint) {
  make_shop();
  write_file("noise", "this is no HFile");
  const std::vector<ContractCase> cases = {
      {{"scna", "shop", "orders"}, 2, "CEL-USAGE", "did you mean scan?"},
      {{"scan", "shop", "orders", "--lmit", "3"}, 2, "CEL-USAGE", "did you mean --limit?"},
      {{"scan", "shop"}, 2, "CEL-USAGE", "usage: cellar scan STORE TABLE"},
      {{"scan", "shop", "orders", "more"}, 2, "CEL-USAGE", "cellar scan --help"},
      {{"scan", "shop", "orders", "--limit", "three"}, 2, "CEL-USAGE", ""},
      {{"put", "shop", "orders", "r", "d:name"}, 2, "CEL-USAGE", "in turn"},
      {{"put", "shop", "orders", "r", "d", "x"}, 2, "CEL-INVALID-ARGUMENT", "family:qualifier"},
      {{"put", "shop", "orders", "\\xZZ", "d:x", "1"}, 2, "CEL-INVALID-ARGUMENT", "\\x5C"},
      {{"put", "shop", "orders", "r", "d:x", "1", "--ts", "soon"}, 2, "CEL-INVALID-ARGUMENT", "now-2h"},
      {{"get", "shop", "orders", "r", "--time", "5"}, 2, "CEL-INVALID-ARGUMENT", "FROM..UNTIL"},
      {{"get", "shop", "orders", "r", "--versions", "0"}, 2, "CEL-INVALID-ARGUMENT", "all"},
      {{"create", "shop", "t", "d:max_version=3"}, 2, "CEL-INVALID-ARGUMENT", "max_versions"},
      {{"create", "shop", "orders", "d"}, 2, "CEL-INVALID-ARGUMENT", ""},
      {{"scan", "shop", "ordrs"}, 3, "CEL-TABLE", "did you mean orders?"},
      {{"get", "shop", "orders", "r", "e:mail"}, 3, "CEL-FAMILY", ""},
      {{"scan", "nothing-here", "orders"}, 3, "CEL-NOT-STORE", ""},
      {{"create", "no/such/store", "t", "d"}, 3, "CEL-NOT-FOUND", "first make the directory"},
      {{"inspect", "nothing-here"}, 3, "CEL-NOT-FOUND", ""},
      {{"inspect", "noise"}, 3, "CEL-NOT-HFILE", ""},
      {{"dump", "noise"}, 3, "CEL-NOT-HFILE", ""},
      {{"load", "shop", "orders", "missing.jsonl"}, 3, "CEL-NOT-FOUND", ""},
  };
  for (const ContractCase& each : cases) {
    SCOPED_TRACE(each.arguments[0] + " " + each.arguments.back());
    const Json error = error_of(each.arguments, each.exit);
    EXPECT_EQ(error.value("code", ""), each.code);
    EXPECT_NE(error.value("message", ""), "");
    EXPECT_NE(error.value("hint", "").find(each.hint), std::string::npos) << error.dump();
  }
}

// The options that take a count are those whose help reads "--name N".
TEST_F(Contract, EveryCountIsAWholeNumberOf64Bits) {
  static const std::regex kCount("^  (?:-[a-z],)?(--[-a-z]+) N(?: |$)");
  size_t counts = 0;
  for (const auto& [command, option] : options_like(kCount)) {
    if (option == "--versions" || option == "--min-versions" || option == "--seed") continue;  // texts
    for (const char* bad : {"-1", "18446744073709551616", "1x", "0x10"}) {
      std::vector<std::string> with_operands = {command, option + "=" + bad, "a", "b"};
      if (command != "simulate") with_operands.emplace_back("c");
      const ToolResult result = run(with_operands);
      EXPECT_EQ(result.exit, 2) << command << " " << option << " " << bad;
      EXPECT_NE(result.err.find("is not a whole number from 0 to 18446744073709551615"), std::string::npos)
          << result.err;
    }
    ++counts;
  }
  EXPECT_GE(counts, 15u);
  make_shop();
  for (const char* bad : {"-1", "18446744073709551616"})
    EXPECT_EQ(run({"scan", "shop", "orders", "--limit", bad}).exit, 2);
  EXPECT_EQ(run({"put", "shop", "orders", "r", "d:x", "1", "--ts", "2026-02-30"}).exit, 2);
}

TEST_F(Contract, ErrorsForPeopleHaveFourParts) {
  make_shop();
  const ToolResult result = run({"scan", "shop", "ordrs"});
  EXPECT_EQ(result.exit, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "error  CEL-TABLE   store shop has no table \"ordrs\"\n"
            "       hint        did you mean orders?   (cellar list shop)\n");
}

TEST_F(Contract, WithoutACommandTheHelpIsTalk) {
  const ToolResult result = run({});
  EXPECT_EQ(result.exit, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("usage: cellar COMMAND"), std::string::npos);
}

// A loader that waits for more input. It has the store's lock once it has the log open; until then no other
// command may open the store, or it might be faster.
constexpr std::string_view kStartLoader =
    "mkfifo gate; cellar load shop people - --batch 2 --quiet < gate & loader=$!; exec 3> gate; "
    "for i in 1 2 3 4 5; do echo "
    "'{\"row\":\"row'$i'\",\"family\":\"d\",\"qualifier\":\"q\",\"value\":\"v\"}' >&3; done; "
    "for i in $(seq 400); do ls -l /proc/$loader/fd 2>/dev/null | grep -q /shop/wal/.*log && break; sleep "
    "0.05; done; ";

TEST_F(Contract, AStoreThatIsOpenElsewhereIsLockedForWriting) {
  make_shop();
  const ToolResult result = shell(std::string(kStartLoader) +
                                  "cellar put shop orders user42 d:name Ada --format json; status=$?; "
                                  "exec 3>&-; wait $loader || exit 99; exit $status");
  EXPECT_EQ(result.exit, 3) << result.err;
  ASSERT_NE(result.err, "");
  EXPECT_EQ(Json::parse(result.err, nullptr, false)["error"]["code"], "CEL-LOCKED") << result.err;
  EXPECT_EQ(json_of({"count", "shop", "people"})["counts"][0]["rows"].get<int>(), 5);
}

// Commands that read show the rows that the loader has put so far, and do not disturb it.
TEST_F(Contract, AStoreThatIsOpenElsewhereCanBeRead) {
  make_shop();
  const ToolResult result =
      shell(std::string(kStartLoader) +
            "for i in $(seq 400); do cellar get shop people row1 --quiet | grep -q v && break; sleep 0.05; "
            "done; "
            "set -e; cellar list shop > /dev/null; cellar status shop > /dev/null; "
            "cellar describe shop people > /dev/null; cellar scan shop people --limit 1 --quiet > /dev/null; "
            "cellar checkpoint shop copy --quiet > /dev/null; cellar count copy people --format json; "
            "exec 3>&-; wait $loader");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_GE(Json::parse(result.out)["counts"][0]["rows"].get<int>(), 1);
  EXPECT_EQ(json_of({"count", "shop", "people"})["counts"][0]["rows"].get<int>(), 5);
}

TEST_F(Contract, AReaderThatGoesAwayIsNoError) {
  const ToolResult result = shell("cellar dump '" + example_file("versions.hfile") +
                                  "' --format jsonl | head -1; exit ${PIPESTATUS[0]}");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
}

TEST_F(Contract, AReaderThatGoesAwayIsToldNoTotal) {
  make_long_table();
  for (const char* line : {"scan db t", "export db t", "shell db -c 'scan t'", "scan db t --format jsonl"}) {
    const ToolResult result = shell("cellar " + std::string(line) + " | head -1; exit ${PIPESTATUS[0]}");
    EXPECT_EQ(result.exit, 0) << line << result.err;
    EXPECT_EQ(result.err, "") << line;
  }
}

// The first write that fails ends the work: neither later ones nor totals come.
TEST_F(Contract, AFullDiskEndsTheWorkAtOnce) {
  make_long_table();
  out_of({"flush", "db"});
  for (const char* line :
       {"scan db t", "scan db t --format jsonl", "export db t", "dump db", "shell db -c 'scan t'"}) {
    const ToolResult result = shell("cellar " + std::string(line) + " > /dev/full");
    EXPECT_EQ(result.exit, 3) << line;
    EXPECT_NE(result.err.find("CEL-NO-SPACE"), std::string::npos) << line << ": " << result.err;
    EXPECT_EQ(result.err.find("rows"), std::string::npos) << line << " claims a total: " << result.err;
    EXPECT_EQ(result.err.find("exported"), std::string::npos) << line << " claims a total: " << result.err;
  }
}

TEST_F(Contract, ValuesComeFromFilesByteForByte) {
  make_shop();
  std::string bytes("a\0b\n\xFF", 5);
  write_file("value", bytes);
  out_of({"put", "shop", "orders", "r", "--from-file", "d:file=value", "d:typed", "@value"});
  out_of({"put", "shop", "orders", "r", "--from-file", "d:input=-"}, bytes);
  EXPECT_EQ(out_of({"get", "shop", "orders", "r", "d:file", "--format", "raw", "--as", "utf8"}),
            bytes + "\n");
  EXPECT_EQ(out_of({"get", "shop", "orders", "r", "d:input", "--format", "raw", "--as", "utf8"}),
            bytes + "\n");
  EXPECT_EQ(out_of({"get", "shop", "orders", "r", "d:typed", "--format", "raw"}), "@value\n");
  out_of({"append", "shop", "orders", "r", "--from-file", "d:typed=-"}, "!");
  EXPECT_EQ(out_of({"get", "shop", "orders", "r", "d:typed", "--format", "raw"}), "@value!\n");
  EXPECT_EQ(error_of({"put", "shop", "orders", "r", "--from-file", "d:q=absent"}, 3)["code"],
            "CEL-NOT-FOUND");
  EXPECT_EQ(run({"put", "shop", "orders", "r", "--from-file", "d:q"}).exit, 2);
  EXPECT_EQ(run({"put", "shop", "orders", "r", "--from-file", "d:q=-", "--from-file", "d:p=-"}, "x").exit, 2);
  EXPECT_EQ(error_of({"put", "shop", "orders", "r"}, 2)["code"], "CEL-USAGE");
  EXPECT_EQ(error_of({"put", "shop", "orders", "r", "--from-file", "e:q=value"}, 3)["code"], "CEL-FAMILY");
}

// A feed is read from the log: what skips it is missing there, and what does not is in it.
TEST_F(Contract, WritesAreAsDurableAsAsked) {
  make_shop();
  for (const char* level : {"default", "async_wal", "sync_wal", "fsync_wal"}) {
    out_of({"put", "shop", "orders", level, "d:q", "v", "--durability", level});
    out_of({"incr", "shop", "orders", level, "c:n", "--durability", level});
    out_of({"append", "shop", "orders", level, "d:q", "w", "--durability", level});
    EXPECT_EQ(out_of({"get", "shop", "orders", level, "d:q", "--format", "raw"}), "vw\n");
    out_of({"delete", "shop", "orders", level, "d:q", "--durability", level});
    out_of({"deleteall", "shop", "orders", level, "--durability", level});
    EXPECT_EQ(run({"get", "shop", "orders", level}).exit, 1);
  }
  EXPECT_EQ(run({"put", "shop", "orders", "r", "d:q", "v", "--durability", "skip_wal"}).exit, 2)
      << "it would be lost when the command ends";
  out_of({"feed", "create", "shop", "all"});
  const std::string cell =
      R"({"row":"bulk","family":"d","qualifier":"q","ts":1,"type":"Put","value":"loaded"})"
      "\n";
  out_of({"load", "shop", "orders", "-", "--durability", "skip_wal"}, cell);
  EXPECT_EQ(out_of({"get", "shop", "orders", "bulk", "--format", "raw"}), "loaded\n") << "it was flushed";
  EXPECT_EQ(out_of({"feed", "read", "shop", "all"}).find("loaded"), std::string::npos);
}

TEST_F(Contract, OutputThatCannotBeWrittenIsAnError) {
  const ToolResult result = shell("cellar dump '" + example_file("versions.hfile") + "' > /dev/full");
  EXPECT_EQ(result.exit, 3);
  EXPECT_NE(result.err.find("CEL-NO-SPACE"), std::string::npos) << result.err;
}

TEST_F(Contract, AnInterruptEndsALoadBetweenBatches) {
  make_shop();
  const ToolResult result = shell(std::string(kStartLoader) + "kill -INT $loader; wait $loader; exit $?");
  EXPECT_EQ(result.exit, 130) << result.err;
  EXPECT_NE(result.err.find("CEL-INTERRUPTED"), std::string::npos) << result.err;
  const int rows = json_of({"count", "shop", "people"})["counts"][0]["rows"].get<int>();
  EXPECT_TRUE(rows <= 4 && rows % 2 == 0) << rows << " rows: whole batches of two";
}

TEST_F(Contract, QuietSaysNothingButErrors) {
  EXPECT_EQ(run({"create", "shop", "t", "d", "-q"}).err, "");
  EXPECT_NE(run({"create", "shop", "t", "d", "-q"}).err, "");
}

TEST_F(Contract, EveryJsonDocumentNamesItsSchemaFirst) {
  make_shop();
  out_of({"flush", "shop"});
  const std::string file = example_file("versions.hfile");
  const std::vector<std::vector<std::string>> lines = {
      {"list", "shop"},
      {"describe", "shop"},
      {"status", "shop"},
      {"get", "shop", "orders", "user42"},
      {"scan", "shop", "orders"},
      {"count", "shop", "orders"},
      {"compact", "shop"},
      {"incr", "shop", "orders", "r", "c:n"},
      {"get-counter", "shop", "orders", "r", "c:n"},
      {"append", "shop", "orders", "r", "d:log", "x"},
      {"version"},
      {"inspect", file},
      {"verify", file},
      {"dump", file, "--limit", "3"},
      {"stats", file},
      {"find", "row-003", file},
      {"diff", file, file, "--meta"},
      {"rewrite", file, "-o", "new.hfile", "--replace"},
      {"rewrite", file, "--estimate"},
      {"filter", file, "-o", "new.hfile", "--replace"},
      {"merge", file, "-o", "new.hfile", "--replace"},
      {"split", file, "-o", ".", "--parts", "2", "--replace"},
      {"salvage", file, "-o", "new.hfile", "--replace"}};
  for (const std::vector<std::string>& line : lines) {
    json_of(line);
    std::vector<std::string> arguments = line;
    arguments.insert(arguments.end(), {"--format", "json"});
    std::string text = out_of(arguments);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    EXPECT_EQ(text.rfind("{\"schema\":\"cellar.", 0), 0u) << line[0] << ": " << text.substr(0, 60);
  }
}

TEST_F(Contract, LinesAndCsvHoldTheSameCells) {
  const std::string file = example_file("weblog.hfile");
  const std::string lines = out_of({"dump", file, "--format", "jsonl"});
  const std::string csv = out_of({"dump", file, "--format", "csv"});
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 600);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 601);
  EXPECT_EQ(csv.rfind("row,family,qualifier,ts,type,value\n", 0), 0u);
  std::istringstream each(lines);
  for (std::string line; std::getline(each, line);) EXPECT_TRUE(Json::accept(line)) << line;
}

TEST_F(Contract, TheVersionIsTheBuilds) {
  const Json version = json_of({"version"});
  const ToolResult cmake =
      shell("grep -o 'project(cellar VERSION [0-9.]*' '" CELLAR_SOURCE_DIR "/CMakeLists.txt'");
  EXPECT_EQ(cmake.out, "project(cellar VERSION " + version["version"].get<std::string>() + "\n");
  EXPECT_EQ(out_of({"--version"}), out_of({"version"}));
}

}  // namespace
}  // namespace cellar::testing
