// Goal: `cellar shell` carries out HBase's commands on a store that stays open, and is fit for scripts: exit
// statuses, formats, files, standard input. Method: text cases for each form of HBase's statements, with
// their answers; then one case for each promise, with the real program.
#include <gtest/gtest.h>
#include <pty.h>
#include <re2/re2.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/plugins.h"
#include "tests/support/data_driven.h"
#include "tests/support/test_scale.h"
#include "tests/tools/tool_runner.h"
#include "tools/shell/shell.h"
#include "tools/shell/shell_groups.h"

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

// A shell in this process, so that one store stays open over all cases.
class ShellCases {
 public:
  explicit ShellCases(std::string store, bool read_only = false)
      : store_(std::move(store)), read_only_(read_only) {
    register_tools_plugins();
    register_hfile_plugins();
    register_bloom_plugins();
    register_cache_plugins();
    register_compaction_plugins();
  }
  ~ShellCases() { EXPECT_TRUE(shell_.close().ok()); }

  // Returns the output without the parts that differ each time, and puts the exit status into `exit`. If
  // `roughly`, also removes the parts that differ between machines or versions.
  std::string answer(const std::string& text, int& exit, bool roughly = false) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(shell_.run_text(text, "").ok());
    out_.flush();
    std::string all = ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
    RE2::GlobalReplace(&all, RE2::QuoteMeta(store_), "db");
    RE2::GlobalReplace(&all, R"( of [0-9.,]+ [KM]?i?B)", " of some size");
    if (roughly) RE2::GlobalReplace(&all, R"([0-9.,]+ [KM]?i?B\b)", "some size");
    RE2::GlobalReplace(&all, R"(20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ)", "(some time in this age) ");
    RE2::GlobalReplace(&all, R"(\b[0-9a-f]{32,}\b)", "(identity)");
    RE2::GlobalReplace(&all, R"(\d[0-9,.]* (µs|ms|s)\b)", "some time");
    exit = static_cast<int>(shell_.failed());
    shell_.forget_failure();
    return exit == 0 ? all : all + "exit " + std::to_string(exit) + "\n";
  }

 private:
  std::string store_;
  bool read_only_;
  Output out_{STDOUT_FILENO};
  Session session_{out_};
  Shell shell_{session_, {.path = store_, .read_only = read_only_, .keep_going = true}};
};

// Statements and answers, one after the other in one store; how many there were.
size_t run_statements(const std::string& file, const std::string& store) {
  ShellCases shell(store);
  size_t cases = 0;
  run_cases(file, [&](const Case& c) {
    ++cases;
    if (c.command != "run" && c.command != "json") return unknown(c);
    int exit = 0;
    return shell.answer(c.command == "json" ? ".format json\n" + c.input + "\n.format table" : c.input, exit);
  });
  return cases;
}

TEST_F(ShellTest, AShellThatOnlyReadsShowsWhatOthersWrite) {
  make_shop();
  ShellCases shell(path("shop"), true);
  int exit = 0;
  const auto rows = [&] { return shell.answer(".format csv\ncount 'orders'\n", exit); };
  for (int each = 3; each < 6; ++each) {
    const std::string answer = rows();
    EXPECT_NE(answer.find("\n" + std::to_string(each) + ","), std::string::npos) << answer;
    out_of({"put", "shop", "orders", "more" + std::to_string(each), "d:name", "Eve", "--quiet"});
  }
  std::filesystem::remove_all(path("shop"));
  const std::string failed = rows();
  EXPECT_NE(exit, 0);
  EXPECT_NE(failed.find("does not exist"), std::string::npos) << failed;
  make_shop();
  const std::string answer = rows();
  EXPECT_NE(answer.find("\n3,"), std::string::npos) << "it opens the new store: " << answer;
}

TEST_F(ShellTest, AnswersHBasesCommands) {
  EXPECT_GE(run_statements("shell/hbase_commands.txt", path("db")), 180u);
}

TEST_F(ShellTest, OptionsHaveTheEffectThatTheyHaveInHBase) {
  EXPECT_GE(run_statements("shell/hbase_options.txt", path("db")), 75u);
}

TEST_F(ShellTest, EveryCommandOfHBaseIsCarriedOutOrAnswered) {
  size_t commands = 0;
  for (const HBaseGroup& group : hbase_groups()) {
    std::istringstream names{std::string(group.commands)};
    for (std::string name; names >> name; ++commands) {
      const bool runs = find_shell_verb(name) != nullptr;
      EXPECT_NE(runs, !why_not_here(name).empty()) << name;
      EXPECT_NE(help_of_group(group.name).find(name), std::string::npos) << name << " in " << group.name;
    }
  }
  EXPECT_GE(commands, 150u);
}

TEST_F(ShellTest, EachFormOfHBasesStatementsIsAnswered) {
  ShellCases shell(path("db"));
  std::map<int, uint64_t> forms;  // by exit status
  std::set<std::string> commands, options;
  run_cases("shell/hbase_forms.txt", [&](const Case& c) {
    int exit = 0;
    std::string answer = shell.answer(c.input, exit, true);
    if (c.command == "setup") {
      EXPECT_EQ(exit, 0) << c.file << ":" << c.line << "\n" << answer;
      return std::string();
    }
    if (c.command != "hbase") return unknown(c);
    ++forms[exit];
    commands.insert(c.args);
    re2::StringPiece rest(c.input);
    for (std::string option; RE2::FindAndConsume(&rest, R"(\b([A-Z][A-Z_]{2,}) *=>)", &option);)
      options.insert(c.args + " " + option);
    EXPECT_EQ(answer.find("unknown command"), std::string::npos) << c.file << ":" << c.line << " " << c.input;
    // These answers depend on the machine, or on what happened before.
    if (exit == 0 && (c.args == "status" || c.args == "whoami")) return std::string("(answered)");
    return answer;
  });
  count(forms[0], "forms of HBase's statements that run");
  count(forms[4], "forms of HBase's statements that are for clusters only");
  count(forms[2] + forms[3], "forms of HBase's statements that need Ruby or a value");
  EXPECT_GE(forms[0] + forms[2] + forms[3] + forms[4], 377u);
  EXPECT_GE(commands.size(), 150u);
  EXPECT_GE(options.size(), 96u) << "pairs of a command and an option";
  EXPECT_GE(forms[0], 120u);
  EXPECT_EQ(forms[1] + forms[5], 0u);
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
  EXPECT_NE(stopped.err.find("did you mean orders?"), std::string::npos) << stopped.err;
  EXPECT_NE(stopped.err.find("line 2, column 6"), std::string::npos) << stopped.err;
  EXPECT_EQ(json_of({"count", "shop", "orders"})["counts"][0]["rows"].get<int>(), 4);
  const ToolResult through = script(text + "scna 'orders'\n", {"--keep-going"});
  EXPECT_EQ(through.exit, 3) << "the status of the first error";
  EXPECT_NE(through.err.find("did you mean scan?"), std::string::npos) << through.err;
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
            "       hint        did you mean COLUMN?\n");
}

// A column of an error counts characters, and the text that it shows is cut between two of them.
TEST_F(ShellTest, AnErrorIsUtf8WhateverWasTyped) {
  make_shop();
  std::string umlauts;
  for (int i = 0; i < 60; ++i) umlauts += "ä";
  const std::string row = umlauts + "xx";
  const std::string margin(19, ' ');
  const std::string place = "line 1, column 93\n" + margin + umlauts.substr(0, 2 * 19) +
                            "xx', 'd:x', 'v', 'nope'\n" + margin + std::string(36, ' ') + "^";
  const std::string many = "put 'orders', '" + row + "', 'd:x', 'v', 'nope'";
  for (const std::string format : {"json", "jsonl"}) {
    const Json error = Json::parse(script(many, {"--format", format}).err, nullptr, false);
    ASSERT_FALSE(error.is_discarded()) << script(many, {"--format", format}).err;
    EXPECT_EQ(error["error"]["place"], place);
  }
  EXPECT_NE(script(many).err.find(place), std::string::npos) << script(many).err;
  const std::string far = "nope '" + umlauts + umlauts + "'";
  EXPECT_NE(script(far).err.find("\n" + margin + "nope '" + umlauts + umlauts.substr(0, 12) + "\n"),
            std::string::npos)
      << script(far).err;
  write_file("\xE9.hbase",
             "get 'orders','n\xFF','bad:\xFF'\nlost \xC3\n\xFE 'x'\n put 'orders', '\xFF', 9, 9, '\xC3\n");
  const ToolResult lone = run({"shell", "shop", "--keep-going", "--format", "json", "-f", "\xE9.hbase"});
  std::istringstream errors(lone.err);
  size_t lines = 0;
  for (std::string line; std::getline(errors, line); ++lines)
    EXPECT_FALSE(Json::parse(line, nullptr, false).is_discarded()) << line;
  EXPECT_EQ(lines, 4u) << lone.err;
  EXPECT_NE(lone.err.find("line 1, column 19"), std::string::npos) << lone.err;
}

TEST_F(ShellTest, ReadsFilesAndStandardInput) {
  write_file("make.hbase",
             "# A table.\ncreate 't', {NAME => 'f',\n  VERSIONS => 3}\nput 't', 'r', 'f:q', 'v', 5\n");
  write_file("wrong.hbase", "\n\nput 't', 'r'\n");
  EXPECT_EQ(run({"shell", "store", "-f", "make.hbase"}).exit, 0);
  EXPECT_EQ(run({"shell", "store", "--format", "raw"}, "get 't',\n 'r'\n").out, "v\n");
  EXPECT_EQ(run({"shell", "store"}, "count 't'").out, "rows  cells\n   1      1\n");
  write_file("marked.hbase",
             "\xEF\xBB\xBF"
             "count 't'\n");
  EXPECT_EQ(run({"shell", "store", "-f", "marked.hbase"}).out, "rows  cells\n   1      1\n");
  EXPECT_EQ(run({"shell", "store"},
                "\xEF\xBB\xBF"
                "count 't'")
                .out,
            "rows  cells\n   1      1\n");
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
      true);
  const ToolResult error = script("get 'orders', 'r', 'e'", {"--format", "json"});
  EXPECT_EQ(Json::parse(error.err, nullptr, false)["error"]["code"], "CEL-FAMILY") << error.err;
}

// Each line of JSON Lines is one object, whatever the command. An answer that is no list is refused as csv.
TEST_F(ShellTest, FormatsForProgramsHoldForAllCommands) {
  make_shop();
  const std::string all =
      "list; status; status 'detailed'; version; describe 'orders'; desc 'orders'; exists 'orders'; count "
      "'orders'\n"
      "scan 'orders'; incr 'orders', 'r', 'c:n'; get_counter 'orders', 'r', 'c:n'; append 'orders', 'r', "
      "'d:x', 'v'\n"
      "put 'orders', 'r', 'd:x', 'v'; flush 'orders'; create 't', 'f'; alter 't', 'g'; truncate 't'; drop "
      "'t'\n"
      "snapshot 'orders', 's'; list_snapshots; whoami; processlist; show_filters; compaction_state 'orders'\n"
      "get_splits 'orders'; help; help 'scan'; help 'balancer'; table_help; .history; disable 'orders'; "
      "alter_status 'orders'";
  const ToolResult lines = script(all, {"--format", "jsonl"});
  EXPECT_EQ(lines.exit, 0) << lines.err;
  EXPECT_NE(lines.err.find("usage: scan 't'"), std::string::npos) << lines.err;
  std::istringstream each(lines.out);
  size_t objects = 0;
  for (std::string line; std::getline(each, line); ++objects)
    EXPECT_TRUE(Json::parse(line, nullptr, false).is_object()) << line;
  EXPECT_GT(objects, 40u);
  for (const std::string text : {"version", "describe 'orders'"}) {
    std::vector<std::string> alone = {text.substr(0, text.find(' '))};
    if (alone[0] == "describe") alone.insert(alone.end(), {"shop", "orders"});
    alone.insert(alone.end(), {"--format", "jsonl"});
    EXPECT_EQ(script(text, {"--format", "jsonl"}).out, out_of(alone));
  }
  const std::string status = out_of({"status", "shop", "--format", "jsonl"});
  EXPECT_EQ(std::count(status.begin(), status.end(), '\n'), 1) << status;
  for (const std::string text : {"status", "version", "describe 'orders'", "desc 'orders'"}) {
    for (const std::string format : {"csv", "raw"}) {
      const ToolResult refused = script("count 'orders'\n " + text, {"--format", format});
      EXPECT_EQ(refused.exit, 2) << text;
      EXPECT_EQ(std::count(refused.out.begin(), refused.out.end(), '\n'), format == "csv" ? 2 : 1);
      EXPECT_NE(refused.err.find("which has no form in " + format), std::string::npos) << refused.err;
      EXPECT_NE(refused.err.find("line 2, column 2"), std::string::npos) << refused.err;
      EXPECT_NE(refused.err.find("table, json and jsonl"), std::string::npos) << refused.err;
    }
  }
  EXPECT_EQ(script("help; help 'scan'; table_help", {"--format", "csv"}).out, "");
}

// The output of describe makes the same table.
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
  EXPECT_EQ(options_of_a["max_versions"], 7);
  EXPECT_EQ(options_of_a["block_bytes"], 8192);
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
  EXPECT_EQ(script("deleteall 'people', {ROWPREFIXFILTER => 'r2'}").err, "deleted cells of 100 rows\n");
  const Json counts = json_of({"count", "shop", "people"})["counts"][0];
  EXPECT_EQ(counts["rows"].get<int>(), 200);
  EXPECT_EQ(counts["cells"].get<int>(), 600);
  script("deleteall 'people', {ROWPREFIXFILTER => 'r3'}, 'd'");
  EXPECT_EQ(json_of({"count", "shop", "people"})["counts"][0]["cells"].get<int>(), 400);
}

// The commands that `help` lists.
std::vector<std::string> names_in(const std::string& overview) {
  std::vector<std::string> names;
  for (const std::string& line : split_lines(overview)) {
    if (line.starts_with("  ") && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST_F(ShellTest, HelpNamesEveryCommandAndItsExamplesWork) {
  make_shop();
  write_file("nightly.txt", "flush 'orders'\nmajor_compact 'orders'\n");
  script(
      "put 'orders', 'user42', 'd:log', 'x'; incr 'orders', 'user42', 'c:visits'; drop 'people'; "
      "create 'tmp_sums', 'd'; create 'orders_copy', 'd'; snapshot 'orders', 'before'");
  ASSERT_EQ(shell("mkdir .template && mv shop nightly.txt .template").exit, 0);
  const std::vector<std::string> names = names_in(run({"shell", "-c", "help"}).out);
  EXPECT_GE(names.size(), 55u);
  uint64_t all = 0;
  for (const std::string& name : names) {
    const std::string help = run({"shell", "-c", "help '" + name + "'"}).out;
    EXPECT_EQ(help.rfind("usage: " + name, 0), 0u) << help;
    uint64_t examples = 0;
    for (const std::string& line : split_lines(help)) {
      EXPECT_LE(line.size(), 100u) << line;
      const std::string words = "; " + line + " ;";
      const size_t at = words.find("; " + name);
      const size_t end = at + 2 + name.size();
      if (at == std::string::npos || (words[end] != ' ' && words[end] != ';')) continue;
      ++examples;
      ASSERT_EQ(shell("rm -rf shop answers.txt && cp -r .template/* .").exit, 0);
      if (name == "snapshot") script("delete_snapshot 'before'");
      if (line.find("IF => 'd:name=Ada'") != std::string::npos) script("put orders user42 d:name Ada");
      if (line.find("METHOD => 'delete'") != std::string::npos) script("alter 'orders', 'notes'");
      const ToolResult result = script(line);
      EXPECT_EQ(result.exit, 0) << line << "\n" << result.err;
    }
    EXPECT_GE(examples, 2u) << help;
    all += examples;
  }
  count(all, "examples of the shell's help that run");
}

// libedit shows its prompt before it takes the terminal over; what is typed in between is edited by the
// kernel, which knows other keys.
void wait_for_the_editor([[maybe_unused]] int terminal) {
#ifdef CELLAR_WITH_EDIT
  constexpr int kTriesMax = 20'000;
  termios mode = {};
  for (int i = 0; i < kTriesMax && tcgetattr(terminal, &mode) == 0 && (mode.c_lflag & ICANON) != 0; ++i)
    usleep(1000);
#endif
}

// Returns the screen of a person who types these lines, with this directory for history and settings, and
// this LC_ALL.
std::string typed_at_a_terminal(const std::vector<std::string>& words, const std::string& home,
                                const std::vector<std::string>& lines, const std::string& locale = "C") {
  int terminal = -1;
  const winsize wide = {.ws_row = 50, .ws_col = 500, .ws_xpixel = 0, .ws_ypixel = 0};  // no line is wrapped
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &wide);
  if (child == 0) {
    setenv("TERM", "dumb", 1);
    setenv("LC_ALL", locale.c_str(), 1);
    setenv("XDG_STATE_HOME", home.c_str(), 1);
    setenv("XDG_CONFIG_HOME", home.c_str(), 1);
    std::vector<char*> arguments = {const_cast<char*>(CELLAR_TOOL_PATH), const_cast<char*>("shell")};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(CELLAR_TOOL_PATH, arguments.data());
    _exit(99);
  }
  std::string seen;
  size_t typed = 0;
  size_t looked = 0;
  char chunk[4096];
  // Reading fails when the shell has ended.
  for (ssize_t bytes; (bytes = read(terminal, chunk, sizeof chunk)) > 0;) {
    seen.append(chunk, static_cast<size_t>(bytes));
    // A line that is shown again, as after a key that moves, follows '\r' and is no new prompt.
    size_t prompt = seen.find("> ", looked);
    while (prompt != std::string::npos && seen.find('\r', seen.rfind('\n', prompt)) < prompt)
      prompt = seen.find("> ", prompt + 1);
    if (prompt == std::string::npos || typed == lines.size()) continue;
    looked = seen.size();
    if (!seen.ends_with("y/n > ")) wait_for_the_editor(terminal);  // a question is asked without the editor
    // As a person's, statements are more than a millisecond apart: a delete hides a put of its millisecond.
    usleep(2000);
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
      {store, "--no-history"}, path("home"),
      {"create 't', 'f'\n", "put 't',\n", "'r', 'f:q', 'v'\n", "scna 't'\n", "count 't'\n", "exit\n"});
  EXPECT_NE(seen.find("does not exist yet"), std::string::npos) << seen;
  EXPECT_NE(seen.find("created table t"), std::string::npos) << seen;
  EXPECT_NE(seen.find("did you mean scan?"), std::string::npos) << seen;
  EXPECT_NE(seen.find("   1      1"), std::string::npos) << seen;
  EXPECT_EQ(out_of({"count", "db", "t", "--format", "csv"}), "rows,cells\n1,1\n");
}

// Bytes arrive in every locale, and also where they are no characters.
TEST_F(ShellTest, AtATerminalBytesArriveAsTyped) {
  const std::string store = path("db");
  for (const std::string locale : {"C.UTF-8", "C", "POSIX", "of_no_land.UTF-8"}) {
    SCOPED_TRACE(locale);
    std::filesystem::remove_all(store);
    std::filesystem::remove_all(path("home"));
    const std::string seen = typed_at_a_terminal(
        {store}, path("home"),
        {"create 't', 'f'\n", "put 't', 'Zürich2', 'f:a', 'naïve €😀'\n",
         "put 't', 'none', 'f:a', '\xFFx\xE9\xC3'\n", "put 't', 'few', 'f:a', '\xC2\x85\xC2\xAD\xC2\xA0'\n",
#ifdef CELLAR_WITH_EDIT
         "\x10\x10\x10\x1B[C\n", "put 't', 'moved', 'f:a', 'ä€ö'\x1B[D\x1B[D\x1B[D\x7F\n",
#endif
         ".history\n", "exit\n"},
        locale);
    EXPECT_NE(seen.find("put 't', 'Zürich2', 'f:a', 'naïve €😀'\r\n"), std::string::npos) << seen;
    const auto value = [&](const std::string& row) -> std::string {
      const Json cells = json_of({"get", "db", "t", row})["cells"];
      return cells.empty() ? "none" : cells[0].value("value", "none");
    };
    EXPECT_EQ(value("Z\\xC3\\xBCrich2"), "na\\xC3\\xAFve \\xE2\\x82\\xAC\\xF0\\x9F\\x98\\x80");
    EXPECT_EQ(value("none"), "\\xFFx\\xE9\\xC3");
    EXPECT_EQ(value("few"), "\\xC2\\x85\\xC2\\xAD\\xC2\\xA0");
#ifdef CELLAR_WITH_EDIT
    EXPECT_EQ(value("moved"), "\\xE2\\x82\\xAC\\xC3\\xB6") << "one character was rubbed out";
    // A line from the file of the history is the typed one.
    const std::string recalled = typed_at_a_terminal(
        {store}, path("home"), {"deleteall 't', 'Zürich2'\n", "\x10\x10\x10\x10\x10\n", "exit\n"}, locale);
    EXPECT_EQ(value("Z\\xC3\\xBCrich2"), "na\\xC3\\xAFve \\xE2\\x82\\xAC\\xF0\\x9F\\x98\\x80") << recalled;
#endif
  }
}

TEST_F(ShellTest, TheHistoryIsWrittenAndReadBack) {
  make_shop();
  const std::string store = path("shop");
  const std::string home = path("home");
  const std::string file = home + "/cellar/shell_history";
  std::string seen = typed_at_a_terminal({store, "--no-history"}, home, {"count 'people'\n", "exit\n"});
  EXPECT_NE(seen.find("took "), std::string::npos) << seen;
  EXPECT_EQ(seen.find("took "), seen.rfind("took ")) << "of count, not of exit";
  EXPECT_FALSE(std::filesystem::exists(file));
#ifdef CELLAR_WITH_EDIT
  typed_at_a_terminal({store}, home, {"count 'orders'\n", "exit\n"});
  EXPECT_TRUE(std::filesystem::exists(file));
  seen = typed_at_a_terminal({store}, home, {".history\n", "exit\n"});
  EXPECT_NE(seen.find("\ncount 'orders'\r\nexit\r\n.history\r\n"), std::string::npos) << seen;
  // Ctrl-P four times: exit, .history, exit, count.
  seen = typed_at_a_terminal({store}, home, {"\x10\x10\x10\x10\n", "exit\n"});
  EXPECT_NE(seen.find("rows  cells"), std::string::npos) << seen;
  seen = typed_at_a_terminal({store, "--no-history"}, home, {".history\n", "exit\n"});
  EXPECT_EQ(seen.find("count"), std::string::npos) << seen;
#endif
}

#ifdef CELLAR_WITH_EDIT  // a build without line editing has no such key
TEST_F(ShellTest, TabCompletesAtATerminal) {
  make_shop();
  const std::string seen =
      typed_at_a_terminal({path("shop"), "--no-history"}, path("home"),
                          {"list\n", "cou\t'peo\t\n", "scan orders lim\t1 col\ts=d\tname\n", "exit\n"});
  EXPECT_NE(seen.find("   0      0"), std::string::npos) << seen;
  EXPECT_NE(seen.find("1 row, 1 cell"), std::string::npos) << seen;
}
#endif

TEST_F(ShellTest, AtATerminalMuchIsRemovedOnlyAfterAYes) {
  make_shop();
  const std::string store = path("shop");
  std::string seen =
      typed_at_a_terminal({store, "--no-history"}, path("home"), {"drop_all '.*'\n", "n\n", "exit\n"});
  EXPECT_NE(seen.find("drop 2 tables: orders, people, with all their data? y/n"), std::string::npos) << seen;
  EXPECT_NE(seen.find("nothing was done"), std::string::npos) << seen;
  EXPECT_EQ(json_of({"list", "shop"})["tables"].size(), 2u);
  typed_at_a_terminal({store, "--no-history"}, path("home"),
                      {"deleteall orders {ROWPREFIXFILTER=>'user41'}\n", "y\n", "exit\n"});
  EXPECT_EQ(json_of({"count", "shop", "orders"})["counts"][0]["rows"].get<int>(), 2);
  typed_at_a_terminal({store, "--no-history", "--yes"}, path("home"), {"drop_all 'peo.*'\n", "exit\n"});
  EXPECT_EQ(json_of({"list", "shop"})["tables"].size(), 1u);
  EXPECT_EQ(script("drop_all '.*'").exit, 0) << "nobody is asked in a script";
  EXPECT_EQ(json_of({"list", "shop"})["tables"].size(), 0u);
}

TEST_F(ShellTest, ShellrcIsCarriedOutAtATerminal) {
  make_shop();
  std::filesystem::create_directories(path("home/cellar"));
  write_file("home/cellar/shellrc", ".format csv\n.timer off\n");
  const std::string store = path("shop");
  std::string seen =
      typed_at_a_terminal({store, "--no-history"}, path("home"), {"count 'orders'\n", "exit\n"});
  EXPECT_NE(seen.find("rows,cells"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("took "), std::string::npos) << seen;
  seen =
      typed_at_a_terminal({store, "--no-history", "--no-rc"}, path("home"), {"count 'orders'\n", "exit\n"});
  EXPECT_EQ(seen.find("rows,cells"), std::string::npos) << seen;
}

TEST_F(ShellTest, SettingsChangeHowItAnswers) {
  make_shop();
  write_file("inner.hbase", "count 'orders'\n");
  write_file("outer.hbase", ".read inner.hbase\n.read 'inner.hbase'\n");
  write_file("circle.hbase", ".read circle.hbase\n");
  EXPECT_EQ(script(".format csv; .read outer.hbase").out, "rows,cells\n3,5\nrows,cells\n3,5\n");
  const ToolResult circle = script(".read circle.hbase");
  EXPECT_EQ(circle.exit, 2);
  EXPECT_NE(circle.err.find("deeper than 16"), std::string::npos) << circle.err;
  EXPECT_EQ(script(".read nothing.hbase").exit, 3);

  EXPECT_EQ(script(".format csv; .output counts.csv; count 'orders'; .output; list '-'").out, "");
  EXPECT_EQ(read_file("counts.csv"), "rows,cells\n3,5\n");
  EXPECT_EQ(script(".output nowhere/x").exit, 3);

  const ToolResult limited = script(".format csv; .limit 2; scan 'orders', COLUMNS => 'd:name'");
  EXPECT_EQ(std::count(limited.out.begin(), limited.out.end(), '\n'), 3) << limited.out;
  EXPECT_NE(limited.err.find(".limit ended the scan"), std::string::npos) << limited.err;
  const ToolResult named = script(".format csv; .limit 2; scan 'orders', COLUMNS => 'd:name', LIMIT => 3");
  EXPECT_EQ(std::count(named.out.begin(), named.out.end(), '\n'), 4) << named.out;

  EXPECT_EQ(script(".format raw; .bytes hex; get 'orders', 'user42', 'd:name'").out,
            "416461204c6f76656c616365\n");
  EXPECT_EQ(script("\n count 'orders'", {"--echo"}).err, "> count 'orders'\n");
  const ToolResult mode = script(".mode read-only; put 'orders', 'r', 'd:x', '1'");
  EXPECT_EQ(mode.exit, 3);
  EXPECT_NE(mode.err.find("CEL-READ-ONLY"), std::string::npos) << mode.err;
  EXPECT_EQ(script(".mode read-only; .mode read-write; put 'orders', 'user42', 'd:x', '1'").exit, 0);
  EXPECT_EQ(script(".mode read-write", {"--read-only"}).exit, 3);
}

TEST_F(ShellTest, ConditionsAndWrappingCounters) {
  make_shop();
  const ToolResult refused = script("put 'orders', 'user42', 'd:x', '1', {IF => 'd:name=Nobody'}; list");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_NE(refused.out, "") << "a condition that does not hold ends no script";
  EXPECT_EQ(script("put 'orders', 'user42', 'd:x', '1', {IF => 'd:name=Ada Lovelace'}").exit, 0);
  EXPECT_EQ(script("put 'orders', 'user42', 'd:x', '2', {IF_ABSENT => 'd:x'}").exit, 1);
  EXPECT_EQ(out_of({"get", "shop", "orders", "user42", "d:x", "--format", "raw"}), "1\n");
  ASSERT_EQ(run({"incr", "shop", "orders", "user42", "c:n", "9223372036854775807"}).exit, 0);
  const ToolResult over = run({"incr", "shop", "orders", "user42", "c:n"});
  EXPECT_EQ(over.exit, 2);
  EXPECT_NE(over.err.find("--wrap wraps around as HBase does"), std::string::npos) << over.err;
  EXPECT_EQ(out_of({"incr", "shop", "orders", "user42", "c:n", "--wrap", "--format", "raw"}),
            "-9223372036854775808\n");
  EXPECT_EQ(script("incr 'orders', 'user42', 'c:n', -1, {OVERFLOW => 'WRAP'}", {"--format", "raw"}).out,
            "9223372036854775807\n");
}

TEST_F(ShellTest, CountSaysHowFarItIs) {
  make_shop();
  const ToolResult result = script(".explain on; count 'orders', INTERVAL => 2");
  EXPECT_NE(result.err.find("counted 2 rows so far\n"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("cells      "), std::string::npos) << result.err;
}

// If a read passed over many files, its explanation names the first ones, and the reasons.
TEST_F(ShellTest, ExplainNamesFilesThatWereNotRead) {
  std::string text = "create 't', {NAME => 'f', COMPACTION => 'none'}\n";
  for (int i = 10; i < 26; ++i) text += "put 't', 'row" + std::to_string(i) + "', 'f:q', 'v'\nflush 't'\n";
  ASSERT_EQ(run({"shell", "many"}, text).exit, 0);
  const ToolResult result = run({"shell", "many", "-c", ".explain on; get 't', 'row12'"});
  EXPECT_NE(result.err.find(": 1 of 1 cell taken"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(": not read: outside its keys"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("more not read"), std::string::npos) << result.err;
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
