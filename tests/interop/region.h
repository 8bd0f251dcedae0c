// Cellar's side of the comparison with a region of HBase: operations from a file, answers into another.
#pragma once

#include <filesystem>

#include "cellar/status.h"

namespace cellar::interop {

// Executes the operations (region.py describes them) on a store made in `directory`, one answer a line.
Status answer_operations(const std::filesystem::path& operations, const std::filesystem::path& answers,
                         const std::filesystem::path& directory);

}  // namespace cellar::interop
