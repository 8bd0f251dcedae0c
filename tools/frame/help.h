// The list of sub-commands, and making one by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/frame/command.h"

namespace cellar {

// Makes the command. kInvalidArgument if the name is unknown, with the nearest name as hint.
Result<std::unique_ptr<Command>> make_command(const std::string& name);
// Returns kNotSupported: a command that works on files was given the name of a cluster. The hint lists the
// commands that work on clusters.
Status cluster_refusal(const std::string& cluster);
// Returns what `cellar help` prints.
std::string help_of_all();
// Returns the names of the topics, in the order in which the help lists them.
std::vector<std::string> help_topics();
// Returns the text of a topic, an error code or the code of a finding; empty if there is no such topic.
std::string help_of_topic(const std::string& topic);
// Returns kInvalidArgument: `what` is neither a command nor a topic nor a code. The hint is the nearest name.
Status unknown_topic(const std::string& what);

}  // namespace cellar
