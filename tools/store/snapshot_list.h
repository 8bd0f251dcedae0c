// Lists of named snapshots for the command and the shell.
#pragma once

#include <string>
#include <vector>

#include "cellar/checkpoint.h"
#include "tools/frame/session.h"

namespace cellar {

// A record for each ("cellar.snapshot/1").
void print_snapshots(Session& session, const std::vector<CheckpointInfo>& snapshots);

// "2 tables, 14 files, 1.2 MiB (of them 1.1 MiB linked)".
std::string size_text(const CheckpointInfo& checkpoint);

}  // namespace cellar
