// MemoryFileSystem: files that live in memory, for tests and benchmarks.
#pragma once

#include <memory>
#include <string>

#include "cellar/file_system.h"

namespace cellar {

// Creates a FileSystem that keeps everything in memory; its paths are "name" or "name/name/…" below one
// root. Any thread. It keeps the contract of cellar/file_system.h, except that everything is as durable
// as the object: sync() always succeeds. `boot_identity` is the boot identity that it reports.
std::unique_ptr<FileSystem> make_memory_file_system(std::string boot_identity = {});

}  // namespace cellar
