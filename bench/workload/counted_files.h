// CountedFiles: a file system that counts the bytes that go through it to another one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cellar/file_system.h"

namespace cellar::bench {

// Bytes that a process moved to and from files, logs included, since some moment.
struct FileBytes {
  uint64_t written = 0;
  std::optional<uint64_t> read = 0;  // not set: nobody can count them
};

// Appends count when they succeed, in mapped files too. Reads count if they succeed. Any thread.
class CountedFiles : public FileSystem {
 public:
  struct Counts {
    std::atomic<uint64_t> written{0};
    std::atomic<uint64_t> read{0};
  };

  // `files` outlives this object.
  explicit CountedFiles(FileSystem& files) : files_(files) {}
  Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) override;
  Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) override;
  std::string boot_identity() override { return files_.boot_identity(); }

  // Bytes since the object was made.
  FileBytes bytes() const { return {.written = counts_.written.load(), .read = counts_.read.load()}; }

 private:
  FileSystem& files_;
  Counts counts_;
};

}  // namespace cellar::bench
