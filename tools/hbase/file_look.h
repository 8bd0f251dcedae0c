// FileLook: the kind of a file or directory, judged by its content and its name.
#pragma once

#include <cstdint>
#include <string>

#include "cellar/status.h"

namespace cellar {

// Returns whether the directory holds a Cellar store.
bool is_store(const std::string& path);

// The kind of a file in a directory, judged by its content and its name.
enum class FileLook : uint8_t {
  kHFile,    // has the magic of a trailer where one of the HFile versions puts it
  kRemains,  // has no trailer, but begins with a block of an HFile or is named like a store file
  kOther,
};
FileLook look_at_file(const std::string& path);
// Returns kCorruption: the file was cut off, or its end was overwritten. Reading on without the file would
// hide its cells.
Status remains_refusal(const std::string& path);
// Returns whether an error is that of remains_refusal().
bool is_remains_refusal(const Status& status);

}  // namespace cellar
