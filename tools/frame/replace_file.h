// Replaces a file as a whole, so that a reader finds the old content or the new one after a power loss.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cellar/file_system.h"

namespace cellar {

// Writes the file `temporary` of the directory with `write`, syncs it, and gives it the name `name`. Then
// syncs the directory. A `temporary` that an interrupted call left is removed first. Errors: those of the
// directory and of `write`. `name` keeps its content if the call fails before the renaming.
// One thread for each pair of names.
Status replace_file(Directory& directory, std::string_view name, std::string_view temporary,
                    const std::function<Status(WritableFile&)>& write);

}  // namespace cellar
