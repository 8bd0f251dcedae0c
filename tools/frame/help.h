// The list of sub-commands, and making one by name.
#pragma once

#include <memory>
#include <string>

#include "tools/frame/command.h"

namespace cellar {

// kInvalidArgument with the nearest name.
Result<std::unique_ptr<Command>> make_command(const std::string& name);
// What `cellar help` prints.
std::string help_of_all();
// Topics of `cellar help TOPIC` that are no commands: "" when there is no such topic.
std::string help_of_topic(const std::string& topic);

}  // namespace cellar
