// Groups of the shell's commands, for help: HBase's, and our own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/shell/shell_call.h"

namespace cellar {

// A group as HBase's shell names and fills it, with commands that a store cannot carry out.
struct HBaseGroup {
  std::string_view name;
  std::string_view commands;  // between blanks
};
std::span<const HBaseGroup> hbase_groups();

struct ShellGroup {
  std::string_view name;
  std::span<const ShellVerb> verbs;
};
std::vector<ShellGroup> shell_groups();

// Usage, purpose and examples of a command.
std::string help_of(const ShellVerb& verb);
// Returns the help of all commands of a group, and why some are not here. Returns "" for an unknown group.
std::string help_of_group(std::string_view name);
// The names of all groups, each once.
std::vector<std::string> group_names();

}  // namespace cellar
