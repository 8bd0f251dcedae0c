// CountedFiles: a file system that counts the bytes that go through it to another one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/watched_files.h"

namespace cellar::bench {

// Bytes that a process moved to and from files, logs included, since some moment.
struct FileBytes {
  uint64_t written = 0;
  std::optional<uint64_t> read = 0;  // not set: nobody can count them
};

// Appends count when they succeed, in mapped files too. Reads count if they succeed. Any thread.
class CountedFiles final : public FileSystem {
 public:
  // `files` outlives this object.
  explicit CountedFiles(FileSystem& files) : watched_(files, counts_) {}
  Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) override {
    return watched_.open_directory(path, create);
  }
  Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) override {
    return watched_.open_file(path);
  }
  std::string boot_identity() override { return watched_.boot_identity(); }

  // Bytes since the object was made.
  FileBytes bytes() const { return {.written = counts_->written.load(), .read = counts_->read_bytes.load()}; }

 private:
  struct Counts final : FileWatch {
    void wrote(int, uint64_t bytes) override { written.fetch_add(bytes, std::memory_order_relaxed); }
    void read(int, uint64_t bytes) override { read_bytes.fetch_add(bytes, std::memory_order_relaxed); }
    std::atomic<uint64_t> written{0};
    std::atomic<uint64_t> read_bytes{0};
  };

  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  WatchedFiles watched_;
};

}  // namespace cellar::bench
