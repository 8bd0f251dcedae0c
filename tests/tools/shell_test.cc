// Goal: `cellar shell` carries out HBase's commands on a store that stays open, and is fit for scripts: exit
// statuses, formats, files, standard input. Method: text cases with the commands of HBase's own help, each
// answer shown; then one case for each promise, with the real program.
#include <gtest/gtest.h>
#include <pty.h>
#include <re2/re2.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/plugins.h"
#include "tests/support/data_driven.h"
#include "tests/tools/tool_runner.h"
#include "tools/shell.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class ShellTest : public ToolTest {
 protected:
  ToolResult script(const std::string& text, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"shell", "shop", "-c", text};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

// In this process, so that one store stays open over all cases.
TEST_F(ShellTest, AnswersHBasesCommands) {
  register_tools_plugins();
  register_hfile_plugins();
  register_bloom_plugins();
  register_cache_plugins();
  register_compaction_plugins();
  const std::string store = path("db");
  Output out(STDOUT_FILENO);
  Session session(out);
  Shell cellar_shell(session, {.path = store, .keep_going = true});
  size_t cases = 0;
  run_cases("shell/hbase_commands.txt", [&](const Case& c) {
    ++cases;
    if (c.command != "run" && c.command != "json") return unknown(c);
    const bool json = c.command == "json";
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(
        cellar_shell.run_text(json ? ".format json\n" + c.input + "\n.format table" : c.input, "").ok());
    out.flush();
    std::string text = ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
    RE2::GlobalReplace(&text, RE2::QuoteMeta(store), "db");
    RE2::GlobalReplace(&text, R"( of [0-9.,]+ [KM]?i?B)", " of some size");
    const int exit = static_cast<int>(cellar_shell.failed());
    cellar_shell.forget_failure();
    return exit == 0 ? text : text + "exit " + std::to_string(exit) + "\n";
  });
  EXPECT_TRUE(cellar_shell.close().ok());
  EXPECT_GE(cases, 180u);
}

TEST_F(ShellTest, TheStoreStaysOpenAndIsTheSameAsForOtherCommands) {
  make_shop();
  const ToolResult result = script(
      "put 'orders', 'user50', 'd:name', 'Barbara', 7\n"
      "incr 'orders', 'user50', 'c:n', 5; incr orders user50 c:n\n"
      "flush 'orders'\n"
      "get 'orders', 'user50', 'd:name'\n");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_NE(result.out.find("Barbara"), std::string::npos);
  EXPECT_EQ(out_of({"get", "shop", "orders", "user50", "d:name", "--format", "raw"}), "Barbara\n");
  EXPECT_EQ(out_of({"get-counter", "shop", "orders", "user50", "c:n", "--format", "raw"}), "6\n");
  EXPECT_NE(out_of({"status", "shop"}).find("it was closed properly"), std::string::npos);
}

TEST_F(ShellTest, TheFirstErrorEndsAScriptWithItsStatus) {
  make_shop();
  const std::string text = "put 'orders', 'a', 'd:x', '1'\nscan 'ordrs'\nput 'orders', 'b', 'd:x', '2'\n";
  const ToolResult stopped = script(text);
  EXPECT_EQ(stopped.exit, 3);
  EXPECT_NE(stopped.err.find("did you mean orders ?"), std::string::npos) << stopped.err;
  EXPECT_NE(stopped.err.find("line 2, column 6"), std::string::npos) << stopped.err;
  EXPECT_EQ(json_of({"count", "shop", "orders"})["counts"][0]["rows"].get<int>(), 4);
  const ToolResult through = script(text + "scna 'orders'\n", {"--keep-going"});
  EXPECT_EQ(through.exit, 3) << "the status of the first error";
  EXPECT_NE(through.err.find("did you mean scan ?"), std::string::npos) << through.err;
  EXPECT_EQ(json_of({"count", "shop", "orders"})["counts"][0]["rows"].get<int>(), 5);
}

TEST_F(ShellTest, ExitStatusesAreThoseOfCommands) {
  make_shop();
  EXPECT_EQ(script("get 'orders', 'nobody'").exit, 0);
  EXPECT_EQ(script("scan 'orders', {").exit, 2);
  EXPECT_EQ(script("nonsense").exit, 2);
  EXPECT_EQ(script("get 'orders', 'r', 'nothing'").exit, 3);
  EXPECT_EQ(script("balancer").exit, 4);
  EXPECT_EQ(script("exit; nonsense").exit, 0);
  EXPECT_EQ(run({"shell", "nowhere", "-c", "list"}).exit, 3);
  EXPECT_EQ(run({"shell", "shop", "-f", "nothing.hbase"}).exit, 3);
  EXPECT_FALSE(std::filesystem::exists(path("nowhere"))) << "only create makes a store";
}

TEST_F(ShellTest, ACaretPointsAtTheArgument) {
  make_shop();
  EXPECT_EQ(script("count 'orders';\n  get 'orders', 'user42', {COLUM => 'd'}").err,
            "error  CEL-USAGE   get has no option COLUM\n"
            "       place       line 2, column 28\n"
            "                   get 'orders', 'user42', {COLUM => 'd'}\n"
            "                                            ^\n"
            "       hint        did you mean COLUMN ?\n");
}

TEST_F(ShellTest, ReadsFilesAndStandardInput) {
  write_file("make.hbase",
             "# A table.\ncreate 't', {NAME => 'f',\n  VERSIONS => 3}\nput 't', 'r', 'f:q', 'v', 5\n");
  write_file("wrong.hbase", "\n\nput 't', 'r'\n");
  EXPECT_EQ(run({"shell", "store", "-f", "make.hbase"}).exit, 0);
  EXPECT_EQ(run({"shell", "store", "--format", "raw"}, "get 't',\n 'r'\n").out, "v\n");
  EXPECT_EQ(run({"shell", "store"}, "count 't'").out, "rows  cells\n   1      1\n");
  const ToolResult wrong = run({"shell", "store", "-f", "wrong.hbase"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_NE(wrong.err.find("usage: put 't', 'row'"), std::string::npos) << wrong.err;
  EXPECT_EQ(shell("cd store && echo list | cellar shell --format csv").out.rfind("table,families", 0), 0u);
}

TEST_F(ShellTest, FormatsAreThoseOfTheCommands) {
  make_shop();
  const std::string get = "get 'orders', 'user42', 'd:name'";
  EXPECT_EQ(script(get, {"--format", "jsonl"}).out,
            "{\"row\":\"user42\",\"family\":\"d\",\"qualifier\":\"name\",\"ts\":2000,\"type\":\"Put\","
            "\"value\":\"Ada Lovelace\"}\n");
  EXPECT_EQ(script(get, {"--format", "json"}).out,
            out_of({"get", "shop", "orders", "user42", "d:name", "--format", "json"}));
  EXPECT_EQ(script(".format csv\n" + get).out,
            out_of({"get", "shop", "orders", "user42", "d:name", "--format", "csv"}));
  EXPECT_EQ(script("describe 'orders'", {"--format", "json"}).out,
            out_of({"describe", "shop", "orders", "--format", "json"}));
  EXPECT_EQ(
      Json::parse(script("exists 'orders'", {"--format", "json"}).out, nullptr, false)["answers"][0]["value"],
      "true");
  const ToolResult error = script("get 'orders', 'r', 'e'", {"--format", "json"});
  EXPECT_EQ(Json::parse(error.err, nullptr, false)["error"]["code"], "CEL-FAMILY") << error.err;
}

// What describe prints makes the same table.
TEST_F(ShellTest, ADescriptionCanBePastedBack) {
  make_shop();
  script(
      "create 'a', {NAME => 'f', VERSIONS => 7, TTL => 3600, COMPRESSION => 'GZ', BLOOMFILTER => 'NONE', "
      "KEEP_DELETED_CELLS => 'TTL', NEW_VERSION_BEHAVIOR => true, BLOCKSIZE => '8192 B (8KB)'}");
  const std::string described = script("describe 'a'").out;
  const size_t family = described.find('{');
  ASSERT_NE(family, std::string::npos) << described;
  const ToolResult made = script("create 'b', " + described.substr(family));
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(made.err, "created table b with 1 family\n");
  const Json options_of_a = json_of({"describe", "shop", "a"})["tables"][0]["families"][0]["options"];
  EXPECT_EQ(options_of_a, json_of({"describe", "shop", "b"})["tables"][0]["families"][0]["options"]);
  EXPECT_EQ(options_of_a["max_versions"], "7");
  EXPECT_EQ(options_of_a["block_bytes"], "8192");
}

TEST_F(ShellTest, ReadOnlyWritesNothing) {
  make_shop();
  EXPECT_EQ(script("count 'orders'", {"--read-only"}).exit, 0);
  const ToolResult refused = script("put 'orders', 'r', 'd:x', '1'", {"--read-only"});
  EXPECT_EQ(refused.exit, 3);
  EXPECT_NE(refused.err.find("CEL-READ-ONLY"), std::string::npos) << refused.err;
  EXPECT_NE(run({"shell", "new", "--read-only", "-c", "create 't', 'f'"}).exit, 0);
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(ShellTest, TruncateKeepsTheFamilies) {
  make_shop();
  const std::string before = script("describe 'orders'").out;
  EXPECT_EQ(script("truncate 'orders'").exit, 0);
  EXPECT_EQ(script("describe 'orders'").out, before);
  EXPECT_EQ(json_of({"count", "shop", "orders"})["counts"][0]["rows"].get<int>(), 0);
}

TEST_F(ShellTest, ADeleteByPrefixOfManyRowsAndCellsLeavesTheOthers) {
  make_shop();
  std::string text;
  for (int row = 100; row < 400; ++row)
    for (const char* column : {"d:a", "d:b", "c:x"})
      text += "put people r" + std::to_string(row) + " " + column + " v\n";
  ASSERT_EQ(run({"shell", "shop"}, text).exit, 0);
  EXPECT_EQ(script("deleteall 'people', {ROWPREFIXFILTER => 'r2'}").err, "deleted in 100 rows\n");
  const Json counts = json_of({"count", "shop", "people"})["counts"][0];
  EXPECT_EQ(counts["rows"].get<int>(), 200);
  EXPECT_EQ(counts["cells"].get<int>(), 600);
  script("deleteall 'people', {ROWPREFIXFILTER => 'r3'}, 'd'");
  EXPECT_EQ(json_of({"count", "shop", "people"})["counts"][0]["cells"].get<int>(), 400);
}

TEST_F(ShellTest, HelpNamesEveryCommandAndItsExamplesWork) {
  make_shop();
  ASSERT_EQ(
      script("put 'orders', 'user42', 'd:log', 'x'; incr 'orders', 'user42', 'c:visits'; drop 'people'").exit,
      0);
  std::istringstream lines(script("help").out);
  std::string helps;
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") || line[2] == ' ') continue;
    names.push_back(line.substr(2, line.find(' ', 2) - 2));
    helps += "help '" + names.back() + "'\n";
  }
  std::istringstream help(script(helps).out);
  std::string examples;
  std::string name;
  size_t described = 0;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("usage: ")) {
      ASSERT_LT(described, names.size());
      name = names[described++];
      EXPECT_EQ(line.rfind("usage: " + name, 0), 0u) << line;
    } else if (line.starts_with(name + " ")) {
      examples += line + "\n";
    }
  }
  EXPECT_EQ(described, names.size());
  EXPECT_GE(names.size(), 30u);
  EXPECT_GE(std::count(examples.begin(), examples.end(), '\n'), 25);
  const ToolResult result = script(examples);
  EXPECT_EQ(result.exit, 0) << result.err;
}

// What a person sees who types these lines.
std::string typed_at_a_terminal(const std::string& store, const std::vector<std::string>& lines) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    setenv("TERM", "dumb", 1);
    execl(CELLAR_TOOL_PATH, CELLAR_TOOL_PATH, "shell", store.c_str(), "--no-history", nullptr);
    _exit(99);
  }
  std::string seen;
  size_t typed = 0;
  size_t looked = 0;
  char chunk[4096];
  // Reading fails when the shell has ended.
  for (ssize_t bytes; (bytes = read(terminal, chunk, sizeof chunk)) > 0;) {
    seen.append(chunk, static_cast<size_t>(bytes));
    const size_t prompt = seen.find("> ", looked);
    if (prompt == std::string::npos || typed == lines.size()) continue;
    looked = seen.size();
    if (write(terminal, lines[typed].data(), lines[typed].size()) < 0) break;
    ++typed;
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << seen;
  close(terminal);
  return seen;
}

TEST_F(ShellTest, AtATerminalErrorsEndTheStatementOnly) {
  const std::string store = path("db");
  const std::string seen = typed_at_a_terminal(
      store, {"create 't', 'f'\n", "put 't',\n", "'r', 'f:q', 'v'\n", "scna 't'\n", "count 't'\n", "exit\n"});
  EXPECT_NE(seen.find("there is no store at"), std::string::npos) << seen;
  EXPECT_NE(seen.find("created table t"), std::string::npos) << seen;
  EXPECT_NE(seen.find("did you mean scan ?"), std::string::npos) << seen;
  EXPECT_NE(seen.find("   1      1"), std::string::npos) << seen;
  EXPECT_EQ(out_of({"count", "db", "t", "--format", "csv"}), "rows,cells\n1,1\n");
}

TEST_F(ShellTest, HostileInputIsRefusedInWords) {
  make_shop();
  const std::string long_word(3 << 20, 'x');
  EXPECT_EQ(run({"shell", "shop"}, "scan 'orders', " + std::string(1 << 20, '[') + "\n").exit, 2);
  EXPECT_EQ(run({"shell", "shop"}, long_word).exit, 2);
  EXPECT_EQ(run({"shell", "shop"}, "put 'orders', 'r', 'd:big', '" + long_word + "'").exit, 0);
  EXPECT_EQ(run({"shell", "shop"}, std::string("get\0orders \xFF\x1B[2J", 16)).exit, 2);
  for (const std::string& text : {std::string("\x1B[2J 'x'"), std::string("scan 'orders', {\x1B[2J => 1}")}) {
    const ToolResult result = run({"shell", "shop"}, text);
    EXPECT_EQ(result.exit, 2);
    EXPECT_EQ(result.err.find('\x1B'), std::string::npos) << "what is typed must not reach the terminal raw";
  }
}

}  // namespace
}  // namespace cellar::testing
