// Runs the real program cellar in a directory of its own, and keeps what it printed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace cellar::testing {

struct ToolResult {
  int exit = -1;
  std::string out;
  std::string err;
  uint64_t memory_kib = 0;  // the most that was resident
};

// A terminal: its size, environment and typed keys. Nobody reads for `waiting_ms` after the first bytes: a
// command with a long answer must wait. The environment forbids a pager and colours by default.
struct TerminalOptions {
  int waiting_ms = 0;
  unsigned short columns = 100;
  unsigned short rows = 50;
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::string keys = {};
  int stopped_after_ms = 0;  // the program is stopped then for 0.7 s, so that its work takes long; 0: never
};

// ToolTest: a fresh, empty working directory for each test.
class ToolTest : public ::testing::Test {
 protected:
  ToolTest();
  ~ToolTest() override;

  // Runs `cellar` with these arguments, this text as standard input.
  ToolResult run(const std::vector<std::string>& arguments, const std::string& input = {}) const;
  // Runs as above, and expects exit status 0. Returns the output.
  std::string out_of(const std::vector<std::string>& arguments, const std::string& input = {}) const;
  // Runs as above with --format json. Returns the parsed output.
  nlohmann::json json_of(std::vector<std::string> arguments) const;
  // Runs a line through the shell, with `cellar` in the path.
  ToolResult shell(const std::string& line) const;
  // Returns false in a build without `serve`.
  bool builds_serve() const { return shell("cellar serve --help").exit == 0; }
  // Runs lines with $H, the name of a cluster, and $server, its process: the store "served" is served. It
  // takes bulk loads from the directory of the test.
  // `settings` are variables of the server's environment.
  ToolResult on_cluster(const std::string& lines, const std::string& settings = {}) const;
  // Returns the bytes that a terminal gets from `cellar`: answers, errors and progress, as they come.
  std::string on_terminal(const std::vector<std::string>& arguments,
                          const TerminalOptions& options = {}) const;
  std::string on_terminal(const std::vector<std::string>& arguments, int waiting_ms) const {
    return on_terminal(arguments, TerminalOptions{.waiting_ms = waiting_ms});
  }
  // The error object that a command with --format json printed.
  nlohmann::json error_of(std::vector<std::string> arguments, int exit) const;

  // The options of each command, as its help shows them: the command, and the first group of `option` in each
  // line that matches.
  std::vector<std::pair<std::string, std::string>> options_like(const std::regex& option) const;

  // The store "shop" with tables "orders" (d:max_versions=3, c) and "people" (d, c), and rows user41, user42,
  // user43.
  void make_shop() const;
  // Returns cells for `load`: d:q at the time 7, with a value of so many bytes, in the rows PREFIX10000,
  // PREFIX10001 and so on.
  static std::string lines_of_rows(const std::string& prefix, int rows, size_t value_bytes);
  void write_file(const std::string& name, const std::string& content) const;
  std::string read_file(const std::string& name) const;
  std::filesystem::path path(const std::string& name) const { return directory_ / name; }
  // An HFile of the repository.
  static std::string example_file(const std::string& name);

 private:
  std::filesystem::path directory_;
};

}  // namespace cellar::testing
