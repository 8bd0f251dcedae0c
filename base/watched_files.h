// WatchedFiles: a file system that forwards every call to another one, and tells what went through.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "cellar/file_system.h"

namespace cellar {

// FileWatch: hears what went through a file system. Any thread may call any function.
class FileWatch {
 public:
  virtual ~FileWatch() = default;
  // Returns a number of the watch's own for files of this name. Asked once for each file that is opened.
  virtual int kind_of(std::string_view name) {
    static_cast<void>(name);
    return 0;
  }
  // Appends and reads that succeeded, in mapped files too.
  virtual void wrote(int kind, uint64_t bytes) = 0;
  virtual void read(int kind, uint64_t bytes) = 0;
  // Syncs the file.
  virtual Status sync(int kind, WritableFile& file) {
    static_cast<void>(kind);
    return file.sync();
  }
};

// Its files and directories keep the watch alive, because jobs may hold them after the engine has gone. Any
// thread.
class WatchedFiles final : public FileSystem {
 public:
  // `files` outlives this object and all that it opens.
  WatchedFiles(FileSystem& files, std::shared_ptr<FileWatch> watch)
      : files_(files), watch_(std::move(watch)) {
    CELLAR_ASSERT(watch_ != nullptr);
  }
  Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) override;
  Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) override;
  std::string boot_identity() override { return files_.boot_identity(); }

 private:
  FileSystem& files_;
  const std::shared_ptr<FileWatch> watch_;
};

}  // namespace cellar
