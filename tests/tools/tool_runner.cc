// Spawning the tool: files for its three streams, so that nothing can block.
#include "tests/tools/tool_runner.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>

#include "tests/tools/schema_check.h"

extern char** environ;

namespace cellar::testing {

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A child that runs `program` in `directory`; its exit status and memory.
std::pair<int, uint64_t> spawn(const fs::path& directory, const std::string& program,
                               const std::vector<std::string>& arguments, const fs::path& streams) {
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, (streams / "in").c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, (streams / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_addopen(&actions, 2, (streams / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {-1, 0};
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child) return {-1, 0};
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          static_cast<uint64_t>(used.ru_maxrss)};
}

}  // namespace

ToolTest::ToolTest() {
  static std::atomic<int> counter{0};
  directory_ = fs::temp_directory_path() /
               ("cellar_tool_test." + std::to_string(getpid()) + "." + std::to_string(counter++));
  fs::create_directories(directory_ / ".streams");
}

ToolTest::~ToolTest() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

ToolResult ToolTest::run(const std::vector<std::string>& arguments, const std::string& input) const {
  const fs::path streams = directory_ / ".streams";
  std::ofstream(streams / "in", std::ios::binary) << input;
  ToolResult result;
  std::tie(result.exit, result.memory_kib) = spawn(directory_, CELLAR_TOOL_PATH, arguments, streams);
  result.out = content_of(streams / "out");
  result.err = content_of(streams / "err");
  return result;
}

std::vector<std::pair<std::string, std::string>> ToolTest::options_like(const std::regex& option) const {
  static const std::regex kCommand("^  ([a-z][-a-z]*) ");
  const auto matches = [](const std::string& text, const std::regex& wanted) {
    std::vector<std::string> found;
    std::istringstream lines(text);
    std::smatch match;
    for (std::string line; std::getline(lines, line);)
      if (std::regex_search(line, match, wanted)) found.push_back(match[1]);
    return found;
  };
  std::vector<std::pair<std::string, std::string>> options;
  for (const std::string& command : matches(out_of({"help"}), kCommand)) {
    const ToolResult help = run({command, "--help"});
    if (help.exit != 0) continue;
    for (const std::string& name : matches(help.out, option)) options.emplace_back(command, name);
  }
  return options;
}

ToolResult ToolTest::shell(const std::string& line) const {
  const fs::path streams = directory_ / ".streams";
  std::ofstream(streams / "in", std::ios::binary) << "";
  const std::string tool_folder = fs::path(CELLAR_TOOL_PATH).parent_path();
  ToolResult result;
  std::tie(result.exit, result.memory_kib) =
      spawn(directory_, "/bin/bash", {"-c", "PATH='" + tool_folder + "':$PATH; " + line}, streams);
  result.out = content_of(streams / "out");
  result.err = content_of(streams / "err");
  return result;
}

// An earlier server has left its line. The new one empties the file some time after the shell has gone on.
ToolResult ToolTest::on_cluster(const std::string& lines, const std::string& settings) const {
  return shell("rm -f served.txt; " + settings +
               " cellar serve served --port 0 --for 60s --load-from . >served.txt & server=$!\n"
               "for i in $(seq 200); do grep -q serving served.txt 2>/dev/null && break; sleep 0.05; done\n"
               "H=hbase://$(sed 's/.* at //' served.txt)\n"
               "(\n" +
               lines + "\n)\ncode=$?; kill -TERM $server; wait $server; exit $code");
}

std::string ToolTest::on_terminal(const std::vector<std::string>& arguments,
                                  const TerminalOptions& options) const {
  int terminal = -1;
  const winsize screen = {.ws_row = options.rows, .ws_col = options.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &screen);
  if (child == 0) {
    std::vector<char*> words = {const_cast<char*>(CELLAR_TOOL_PATH)};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    setenv("TERM", "xterm", 1);
    setenv("CELLAR_PAGER", "", 1);
    setenv("NO_COLOR", "1", 1);
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    if (chdir(directory_.c_str()) == 0) execv(CELLAR_TOOL_PATH, words.data());
    _exit(99);
  }
  if (!options.keys.empty()) {
    EXPECT_EQ(::write(terminal, options.keys.data(), options.keys.size()),
              static_cast<ssize_t>(options.keys.size()));
  }
  if (options.stopped_after_ms > 0) {
    constexpr useconds_t kStoppedUs = 700'000;
    usleep(static_cast<useconds_t>(options.stopped_after_ms) * 1000);
    kill(child, SIGSTOP);
    usleep(kStoppedUs);
    kill(child, SIGCONT);
  }
  std::string seen;
  char chunk[4096];
  // Reading fails when the program has ended.
  for (ssize_t bytes; (bytes = ::read(terminal, chunk, sizeof chunk)) > 0;) {
    if (seen.empty() && options.waiting_ms > 0) usleep(static_cast<useconds_t>(options.waiting_ms) * 1000);
    seen.append(chunk, static_cast<size_t>(bytes));
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 99) << seen;
  close(terminal);
  return seen;
}

std::string ToolTest::out_of(const std::vector<std::string>& arguments, const std::string& input) const {
  const ToolResult result = run(arguments, input);
  std::string line;
  for (const std::string& argument : arguments) line += " " + argument;
  EXPECT_EQ(result.exit, 0) << "cellar" << line << "\n" << result.err;
  return result.out;
}

nlohmann::json ToolTest::json_of(std::vector<std::string> arguments) const {
  arguments.insert(arguments.end(), {"--format", "json"});
  const std::string text = out_of(arguments);
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text;
  return json;
}

nlohmann::json ToolTest::error_of(std::vector<std::string> arguments, int exit) const {
  arguments.insert(arguments.end(), {"--format", "json"});
  const ToolResult result = run(arguments);
  EXPECT_EQ(result.exit, exit) << result.out << result.err;
  const size_t start =
      result.err.size() < 2 ? std::string::npos : result.err.rfind('\n', result.err.size() - 2);
  const std::string last = start == std::string::npos ? result.err : result.err.substr(start + 1);
  nlohmann::json json = nlohmann::json::parse(last, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.err;
  if (json.is_discarded() || !json.contains("error")) return nlohmann::json::object();
  EXPECT_EQ(json["error"].value("exit", -1), exit);
  for (const std::string& fault : schema_faults(json, schema_of("error"))) ADD_FAILURE() << fault;
  return json["error"];
}

void ToolTest::make_shop() const {
  out_of({"create", "shop", "orders", "d:max_versions=3", "c"});
  out_of({"create", "shop", "people", "d", "c"});
  out_of({"load", "shop", "orders", "-"},
         R"({"row":"user41","family":"d","qualifier":"name","ts":1000,"type":"Put","value":"Grace"}
{"row":"user42","family":"d","qualifier":"name","ts":1000,"type":"Put","value":"Ada"}
{"row":"user42","family":"d","qualifier":"mail","ts":1000,"type":"Put","value":"ada@example.org"}
{"row":"user42","family":"d","qualifier":"name","ts":2000,"type":"Put","value":"Ada Lovelace"}
{"row":"user43","family":"d","qualifier":"name","ts":3000,"type":"Put","value":"Edsger"}
{"row":"user43","family":"c","qualifier":"score","ts":3000,"type":"Put","value":"17"}
)");
}

std::string ToolTest::lines_of_rows(const std::string& prefix, int rows, size_t value_bytes) {
  const std::string value(value_bytes, 'v');
  std::string lines;
  for (int row = 10000; row < 10000 + rows; ++row)
    lines += R"({"row":")" + prefix + std::to_string(row) +
             R"(","family":"d","qualifier":"q","ts":7,"type":"Put","value":")" + value + "\"}\n";
  return lines;
}

void ToolTest::write_file(const std::string& name, const std::string& content) const {
  std::ofstream(directory_ / name, std::ios::binary) << content;
}

std::string ToolTest::read_file(const std::string& name) const { return content_of(directory_ / name); }

std::string ToolTest::example_file(const std::string& name) {
  return CELLAR_SOURCE_DIR "/examples/data/" + name;
}

}  // namespace cellar::testing
