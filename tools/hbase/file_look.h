// What a file or directory is, by its content and its name.
#pragma once

#include <cstdint>
#include <string>

#include "cellar/status.h"

namespace cellar {

// Whether the directory holds a store of Cellar's.
bool is_store(const std::string& path);

// What a file in a directory is, by its content and its name.
enum class FileLook : uint8_t {
  kHFile,    // the magic of a trailer stands where one of the versions of HFiles has it
  kRemains,  // no trailer, but it begins with a block of an HFile, or has the name of a store file
  kOther,
};
FileLook look_at_file(const std::string& path);
// kCorruption: the file was cut off, or its end was overwritten; to read on without it would hide its cells.
Status remains_refusal(const std::string& path);
// Returns whether an error is that of remains_refusal().
bool is_remains_refusal(const Status& status);

}  // namespace cellar
