// Data-driven tests: text files of cases, each a command, its input and what it must answer.
//
//   # A comment, kept by a rewrite.
//   command argument key=value
//   input lines, as many as wanted
//   ----
//   expected lines, up to the first empty line
//
// Expected text that has empty lines itself stands between two pairs of ----:
//
//   command
//   ----
//   ----
//   first
//
//   third
//   ----
//   ----
//
// With CELLAR_REWRITE=1 in the environment the expected parts are replaced by what was answered; the diff is
// the review.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellar::testing {

struct Case {
  std::string command;  // the first word of the first line
  std::string args;     // the rest of that line, without space at its ends
  std::string input;    // the lines before ----, each with its '\n'; empty when there are none
  std::string file;     // "cell/merging_cursor.txt"
  int line = 0;         // of the command, from 1

  // args, cut at spaces.
  std::vector<std::string> words() const;
  // The value of the word "key=value", if there is one; and whether the word `key` stands alone.
  std::optional<std::string> value(std::string_view key) const;
  uint64_t count(std::string_view key, uint64_t otherwise) const;
  bool has(std::string_view word) const;
  // The lines of input, without '\n'.
  std::vector<std::string> lines() const;
};

// Runs every case of CELLAR_TEST_DATA_DIR/`file` in order: `answer` returns what the case prints ("" for
// nothing; a missing last '\n' is added). Differences are failures of the running test, at the case's line.
void run_cases(const std::string& file, const std::function<std::string(const Case&)>& answer);

// The cases of CELLAR_TEST_DATA_DIR/`file`, in order; for a test that answers them elsewhere.
std::vector<Case> read_cases(const std::string& file);

// The answer to a command that the test does not know.
std::string unknown(const Case& c);

// The pieces of `text` between '\n's; a '\n' at the end does not begin another one.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace cellar::testing
