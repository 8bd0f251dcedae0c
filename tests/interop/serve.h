// A store that HBase's own client works on, with a clock that the client's program sets.
#pragma once

#include <filesystem>

#include "cellar/status.h"

namespace cellar::interop {

// Serves a store in the directory until standard input ends. Prints the address; a line "clock MS" sets the
// time of the store and is answered by "ok".
Status serve_store(const std::filesystem::path& directory);

}  // namespace cellar::interop
