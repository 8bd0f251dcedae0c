// Goal: help is short, complete and true. Every command has it, it fits a screen, each option is shown in an
// example, and the examples do what they say. Method: `cellar help` and the tables of which help is made are
// the lists of commands and options. For each example, tests/data/help/examples.txt states its output, and
// the files that it leaves. Each runs in a directory with the files it names.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>

#include "base/plugins.h"
#include "cellar/cache_policy.h"
#include "cellar/compaction_policy.h"
#include "cellar/options.h"
#include "cellar/plugin.h"
#include "tests/support/data_driven.h"
#include "tests/tools/tool_runner.h"
#include "tools/frame/command.h"
#include "tools/frame/help.h"

namespace cellar::testing {
namespace {

size_t columns_of(const std::string& line) {
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string text_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in.good()) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

// An example on one line, however the help breaks it.
std::string unbroken(std::string example) {
  constexpr std::string_view kBreak = " \\\n      ";
  for (size_t at; (at = example.find(kBreak)) != std::string::npos;) example.replace(at, kBreak.size(), " ");
  return example;
}

// The statements of examples.txt about an example.
struct Expectation {
  std::vector<std::string> before;  // carried out first, and must succeed
  std::vector<std::string> after;   // carried out after it; what these print counts, too
  int exit = 0;
  std::vector<std::string> prints;
  bool prints_nothing = false;
  bool met = false;
};

std::map<std::string, Expectation> expectations() {
  std::map<std::string, Expectation> all;
  Expectation* last = nullptr;
  for (const std::string& line : split_lines(text_of_file(CELLAR_TEST_DATA_DIR "/help/examples.txt"))) {
    if (line.empty() || line.starts_with("#")) continue;
    if (!line.starts_with("  ")) {
      EXPECT_FALSE(all.contains(line)) << "twice: " << line;
      last = &all[line];
      continue;
    }
    if (last == nullptr) {
      ADD_FAILURE() << "of no example: " << line;
      continue;
    }
    const std::string rest = line.substr(std::min(line.size(), line.find(' ', 2) + 1));
    if (line == "  prints nothing") {
      last->prints_nothing = true;
    } else if (line.starts_with("  prints ")) {
      last->prints.push_back(rest);
    } else if (line.starts_with("  before ")) {
      last->before.push_back(rest);
    } else if (line.starts_with("  after ")) {
      last->after.push_back(rest);
    } else if (line.starts_with("  exit ")) {
      last->exit = std::stoi(rest);
    } else {
      ADD_FAILURE() << "neither prints, before, after nor exit: " << line;
    }
  }
  return all;
}

class Help : public ToolTest {
 protected:
  Help() { register_tools_plugins(); }

  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    std::istringstream lines(out_of({"help"}));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return names;
  }

  // The arguments of a command, as its help is made of them; `command` holds what they are bound to.
  static std::unique_ptr<Arguments> arguments_of(const std::string& name, std::unique_ptr<Command>& command) {
    command = make_command(name).value();
    auto arguments = std::make_unique<Arguments>("cellar " + name, std::string(command->summary()));
    command->declare(*arguments);
    return arguments;
  }

  // Everything that examples speak of.
  void furnish() const {
    make_shop();
    out_of({"snapshot", "create", "shop", "yesterday"});
    out_of({"feed", "create", "shop", "audit"});
    out_of({"put", "shop", "orders", "user42", "d:name", "Ada"});
    out_of({"incr", "shop", "orders", "user42", "c:visits", "5", "c:stock", "3"});
    out_of({"flush", "shop"});
    out_of({"checkpoint", "shop", "backup"});
    write_file("cells.jsonl",
               R"({"row":"user44","family":"d","qualifier":"name","ts":5,"type":"Put","value":"Kurt"})"
               "\n");
    write_file("hudi.jsonl", R"({"row":"user45","family":"","qualifier":"name","value":"Barbara"})"
                             "\n");
    write_file("people.csv", "id,name,email\nuser1,Ada,ada@example.org\nuser2,Grace\n");
    write_file("people.tsv", "id\tname\nuser1\tAda\nuser3\tNULL\n");
    write_file("splits.txt", "user42\n");
    write_file("shop.conf", "[engine]\nmemtable_bytes = 1g\nmemtable_bytes_total = 64m\n");
    write_file("notes.txt", "first line\nsecond line\n");
    write_file("today.log", "paid\n");
    write_file("table.txt", "{NAME => 'c', VERSIONS => '1'}\n{NAME => 'd', VERSIONS => '3'}\n");
    write_file("nightly.txt", "flush 'order'\nmajor_compact 'orders'\n");
    out_of({"export", "shop", "orders", "--to", "hfile", "-o", "load", "--splits", "splits.txt"});
    write_file("bench.json", R"({"benchmarks":[
        {"name":"get/cache:warm/k:1","real_time":2.5,"time_unit":"us"},
        {"name":"get/cache:warm/k:10","real_time":4.5,"time_unit":"us"},
        {"name":"get/cache:cold/k:1","real_time":80,"time_unit":"us"}]})");
    write_file("driver.jsonl",
               R"({"kind":"result","peer":"cellar","workload":"scan","rate":1000,"space":1.5})");
    write_file("policies.json", R"({"compaction":["exploring","leveled"],"repetitions":2,
        "log_segment_bytes":"64k","workload":{"name":"ycsb_a","rows":200,"operations":200}})");
    for (const char* name : {"versions.hfile", "weblog.hfile"})
      std::filesystem::copy(example_file(name), path(name));
    ASSERT_EQ(shell("CELLAR_ENGINE=block_trace=shop.trace cellar scan shop orders").exit, 0);
    out_of({"merge", "versions.hfile", "-o", "later.hfile", "--major", "--versions", "1"});
    std::string damaged = read_file("versions.hfile");
    damaged[5000] = static_cast<char>(damaged[5000] ^ 1);
    write_file("damaged.hfile", damaged);
  }

  // Runs the example on a served store, and the lines after it.
  void expect_cluster_example(const std::string& example, const Expectation& expected) const {
    std::string lines = "cd rooms && " + example;
    for (const std::string& line : expected.after) lines += " && " + line;
    RE2::GlobalReplace(&lines, "hbase://master:16000", "$H");
    std::filesystem::remove_all(path("served"));
    const ToolResult result = on_cluster(lines);
    EXPECT_EQ(result.exit, expected.exit) << result.err;
    EXPECT_FALSE(expected.prints.empty());
    for (const std::string& text : expected.prints)
      EXPECT_NE((result.out + result.err).find(text), std::string::npos) << text << "\n" << result.err;
  }

  // Runs the example in a directory of its own, with the lines that come before and after it.
  void expect_example(const std::string& example, const Expectation& expected) const {
    SCOPED_TRACE(example);
    ASSERT_EQ(shell("rm -rf rooms && cp -r .template rooms").exit, 0);
    for (const std::string& line : expected.before) {
      const ToolResult before = shell("cd rooms && " + line);
      EXPECT_EQ(before.exit, 0) << line << "\n" << before.err;
    }
    if (example.find("hbase://") != std::string::npos) {
      if (builds_serve()) expect_cluster_example(example, expected);
      return;
    }
    const ToolResult result = shell("cd rooms && " + example);
    EXPECT_EQ(result.exit, expected.exit) << result.err;
    std::string all = result.out + result.err;
    if (expected.prints_nothing) {
      EXPECT_EQ(all, "");
    }
    for (const std::string& line : expected.after) {
      const ToolResult after = shell("cd rooms && " + line);
      all += after.out + after.err;
    }
    for (const std::string& text : expected.prints) {
      EXPECT_NE(all.find(text), std::string::npos) << "no \"" << text << "\" in\n" << all;
    }
    EXPECT_TRUE(expected.prints_nothing || !expected.prints.empty())
        << "tests/data/help/examples.txt does not say what it prints:\n"
        << all;
  }
};

TEST_F(Help, EveryCommandFitsAScreenAndHasTwoExamples) {
  const std::vector<std::string> names = commands();
  EXPECT_GE(names.size(), 20u);
  for (const std::string& name : names) {
    const std::string help = out_of({name, "--help"});
    EXPECT_EQ(help, out_of({"help", name}));
    EXPECT_EQ(help.rfind("usage: cellar " + name, 0), 0u);
    const std::string screen = help.substr(0, help.find("\n\nmore examples\n"));
    EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), 42) << help;
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 60) << help;
    for (const std::string& line : split_lines(help)) EXPECT_LE(columns_of(line), 100u) << line;
    const size_t at = screen.find("\n\nexamples\n  # ");
    ASSERT_NE(at, std::string::npos) << help;
    EXPECT_NE(screen.find("\n  # ", at + 16), std::string::npos) << "one example only:\n" << help;
  }
}

TEST_F(Help, EveryOptionStandsInAnExampleOfItsCommand) {
  size_t options = 0;
  for (const std::string& name : commands()) {
    std::unique_ptr<Command> command;
    const std::unique_ptr<Arguments> arguments = arguments_of(name, command);
    const std::vector<std::string> examples = arguments->examples();
    const auto shown = [&](const std::string& option) {
      return std::any_of(examples.begin(), examples.end(), [&](const std::string& example) {
        const std::string words = " " + unbroken(example) + " ";
        return words.find(" " + option + " ") != std::string::npos;
      });
    };
    for (const std::vector<std::string>& option : arguments->options()) {
      ++options;
      EXPECT_TRUE(std::any_of(option.begin(), option.end(), shown))
          << "cellar " << name << " --help has no example with " << option.back()
          << ": add it to one with more_example() in the command's declare()";
    }
  }
  EXPECT_GE(options, 200u);
}

TEST_F(Help, EveryExampleDoesWhatItSays) {
  furnish();
  ASSERT_EQ(shell("mkdir .template && mv shop backup load *.json *.jsonl *.csv *.tsv *.txt *.log *.hfile "
                  "*.trace *.conf .template")
                .exit,
            0);
  std::map<std::string, Expectation> expected = expectations();
  for (const std::string& name : commands()) {
    std::unique_ptr<Command> command;
    const std::unique_ptr<Arguments> arguments = arguments_of(name, command);
    for (const std::string& example : arguments->examples()) {
      Expectation& each = expected[unbroken(example)];
      expect_example(example, each);
      each.met = true;
    }
  }
  for (const auto& [example, each] : expected)
    EXPECT_TRUE(each.met) << "tests/data/help/examples.txt tells of what no help shows: " << example;
}

TEST_F(Help, EveryCachePolicyHasALine) {
  register_cache_plugins();
  const std::string topic = out_of({"help", "caches"});
  const std::vector<std::string> names = Registry<CachePolicy>::instance().names();
  EXPECT_GE(names.size(), 7u);
  for (const std::string& name : names) EXPECT_NE(topic.find("\n  " + name + " "), topic.npos) << name;
}

TEST_F(Help, EveryCompactionPolicyHasALineAndEveryParameterIsNamed) {
  register_compaction_plugins();
  const std::string topic = out_of({"help", "policies"});
  const std::vector<std::string> names = Registry<CompactionPolicy>::instance().names();
  EXPECT_GE(names.size(), 10u);
  for (const std::string& name : names) {
    EXPECT_NE(topic.find("\n  " + name + " "), topic.npos) << name;
    if (topic.find("\n  " + name + " \n") != topic.npos) continue;  // of somebody else
    FamilyOptions family;
    family.name = "f";
    family.compaction = name + "(unknown=1)";
    const std::string refusal = validate(family).to_text();
    std::string takes;
    ASSERT_TRUE(RE2::PartialMatch(refusal, "it takes ([a-z0-9_, ]+)", &takes)) << refusal;
    re2::StringPiece rest(takes);
    for (std::string parameter; RE2::FindAndConsume(&rest, "([a-z0-9_]+)", &parameter);)
      EXPECT_TRUE(RE2::PartialMatch(topic, "\\b" + parameter + "\\b")) << name << ": " << parameter;
  }
}

class PolicyOfSomebody final : public CompactionPolicy {
 public:
  explicit PolicyOfSomebody(const PluginParams&) {}
  std::optional<CompactionPlan> pick(const StoreShape&, std::vector<std::string>*) const override {
    return {};
  }
};

// The child process ends with its registry.
TEST(HelpDeathTest, APolicyWithoutALineIsListed) {
  const auto listed = [] {
    Registry<CompactionPolicy>::instance().add(
        "mine", [](const PluginParams& params) { return std::make_unique<PolicyOfSomebody>(params); });
    return help_of_topic("policies").find("describe:\n  mine \n") != std::string::npos;
  };
  EXPECT_EXIT(std::exit(listed() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST_F(Help, TopicsExist) {
  for (const std::string& topic : help_topics()) EXPECT_NE(out_of({"help", topic}), "") << topic;
  EXPECT_GE(help_topics().size(), 7u);
  const ToolResult mistyped = run({"help", "exit-code"});
  EXPECT_EQ(mistyped.exit, 2);
  EXPECT_NE(mistyped.err.find("did you mean exit-codes?\n"), std::string::npos) << mistyped.err;
}

}  // namespace
}  // namespace cellar::testing
