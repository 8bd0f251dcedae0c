// Runs one sub-command: makes it, parses its words, and lets it work.
#pragma once

#include <string>
#include <vector>

#include "cellar/status.h"
#include "tools/frame/session.h"

namespace cellar {

// Runs the command of this name with the words that follow the name. The format of the session becomes the
// command's.
Status run_command(Session& session, const std::string& name, const std::vector<std::string>& words);
// Returns `status` as an error of usage: CEL-USAGE, exit status 2.
Status usage_failure(Session& session, Status status);

}  // namespace cellar
