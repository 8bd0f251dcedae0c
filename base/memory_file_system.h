// MemoryFileSystem: files that live in memory, for tests and benchmarks.
#pragma once

#include <memory>
#include <string>

#include "cellar/file_system.h"

namespace cellar {

// A FileSystem whose paths are "name" or "name/name/…" below one root, all in memory. Any thread. Keeps the
// contract of cellar/file_system.h except that everything is as durable as the object: sync() always
// succeeds.
// `boot_identity` is what it answers when asked for it.
std::unique_ptr<FileSystem> make_memory_file_system(std::string boot_identity = {});

}  // namespace cellar
