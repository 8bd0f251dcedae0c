// Cellar's side of the comparison with HBase: seconds of writing and scanning one file.
#pragma once

#include <filesystem>

#include "cellar/status.h"

namespace cellar::interop {

// Prints one JSON line for each codec, work and round: engine, codec, work, wall and processor seconds, bytes
// of the file. Leaves the files as DIRECTORY/cellar-CODEC.
Status measure(const std::filesystem::path& directory, uint64_t cells, uint64_t rounds);

}  // namespace cellar::interop
