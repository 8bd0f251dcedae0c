// Cellar's side of the comparison of operations with a region of HBase.
#pragma once

#include <cstdint>
#include <filesystem>

#include "cellar/status.h"

namespace cellar::interop {

// Measures once for each line of standard input, on a new table of `rows` rows in DIRECTORY. Prints a JSON
// line for each kind of operation, and then "done". RegionBench.java does the same with HBase.
Status measure_operations(const std::filesystem::path& directory, uint64_t rows);

}  // namespace cellar::interop
