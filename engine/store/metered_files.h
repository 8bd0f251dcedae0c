// MeteredFiles: a file system that counts the bytes of a store by the kind of file, and times syncs of logs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/file_system.h"
#include "engine/store/operation_meter.h"

namespace cellar {

// Kinds of files, in the order of their names.
enum class FileClass : uint8_t { kLog, kManifest, kOther, kStoreFile };
inline constexpr size_t kFileClasses = 4;

// FileMeter: what went through a file system. Appends and reads count when they succeed. Any thread.
class FileMeter {
 public:
  // Borrows the meter, which hears of syncs of the log.
  explicit FileMeter(OperationMeter& operations) : operations_(operations) {}

  void wrote(FileClass kind, uint64_t bytes) { add(written_, kind, bytes); }
  void read(FileClass kind, uint64_t bytes) { add(read_, kind, bytes); }
  OperationMeter& operations() { return operations_; }

  // Return the bytes by kind: "log", "manifest", "other", "store_files".
  std::map<std::string, uint64_t> bytes_written() const { return map_of(written_); }
  std::map<std::string, uint64_t> bytes_read() const { return map_of(read_); }

 private:
  using Figures = std::array<std::atomic<uint64_t>, kFileClasses>;
  static void add(Figures& figures, FileClass kind, uint64_t bytes) {
    figures[static_cast<size_t>(kind)].fetch_add(bytes, std::memory_order_relaxed);
  }
  static std::map<std::string, uint64_t> map_of(const Figures& figures);

  OperationMeter& operations_;
  alignas(64) Figures written_ = {};
  alignas(64) Figures read_ = {};
};

// Forwards every call to another file system. Its files and directories keep the meter alive, because jobs
// may hold them after the engine has gone. Any thread.
class MeteredFiles final : public FileSystem {
 public:
  // `files` outlives this object and all that it opens.
  MeteredFiles(FileSystem& files, std::shared_ptr<FileMeter> meter)
      : files_(files), meter_(std::move(meter)) {}
  Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) override;
  Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) override;
  std::string boot_identity() override { return files_.boot_identity(); }

 private:
  FileSystem& files_;
  const std::shared_ptr<FileMeter> meter_;
};

// Returns the kind of a file by its name in a directory of a store.
FileClass file_class(std::string_view name);

}  // namespace cellar
