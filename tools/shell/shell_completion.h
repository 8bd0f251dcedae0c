// The offers of Tab: a function of the typed text, the place in it, and the names that exist.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cellar {

// The names that exist. Functions that are not set know nothing.
struct ShellNames {
  std::vector<std::string> tables;
  std::vector<std::string> snapshots;
  // The families of a table; none of one that is not there.
  std::function<std::vector<std::string>(const std::string& table)> families;
  // Paths that begin so; directories end in '/'.
  std::function<std::vector<std::string>(const std::string& start)> files;
};

struct ShellCompletion {
  size_t from = 0;                      // what is replaced begins here and ends at the cursor
  std::vector<std::string> candidates;  // sorted; each with what closes it: a quote, a blank, " => "
};

// `text` is one statement or several, the last of them as far as it is typed. Offers a command where one
// begins, then the operands of its usage: tables, families, snapshots, files. Offers names of options after {
// and ','.
ShellCompletion complete_shell(std::string_view text, size_t cursor, const ShellNames& names);

// Returns the longest common prefix.
std::string common_start(const std::vector<std::string>& candidates);
// The paths below the file system that begin so, at most some hundreds.
std::vector<std::string> paths_beginning(const std::string& start);

}  // namespace cellar
