// A copy of a file, in place of a mapping that the system would make.
#pragma once

#include <memory>

#include "cellar/file_system.h"

namespace cellar {

// Reads the whole file into memory, for ReadableFile::map(). The memory is exactly as large, so that checkers
// of memory see a read beyond its end. Any thread.
inline Result<std::shared_ptr<const char>> copied_mapping(const ReadableFile& file) {
  const auto bytes = static_cast<size_t>(file.size());
  const std::shared_ptr<char> copy(new char[bytes], std::default_delete<char[]>());
  if (bytes > 0) CELLAR_TRY(file.read(0, bytes, copy.get()));
  return std::shared_ptr<const char>(copy);
}

}  // namespace cellar
