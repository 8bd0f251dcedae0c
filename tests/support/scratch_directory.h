// ScratchDirectory: a directory of its own for one test, below TMPDIR or where it is told, removed with
// everything in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/assert.h"

namespace cellar::testing {

class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::filesystem::path& below = std::filesystem::temp_directory_path()) {
    std::string pattern = (below / "cellar-XXXXXX").string();
    CELLAR_ASSERT(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace cellar::testing
