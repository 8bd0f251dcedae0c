// The shell's commands about schemas: create, alter, describe.
#pragma once

#include "tools/shell/shell_call.h"

namespace cellar {

Status run_create(ShellCall& call);
Status run_alter(ShellCall& call);
Status run_describe(ShellCall& call);

}  // namespace cellar
