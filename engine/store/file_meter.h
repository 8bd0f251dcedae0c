// FileMeter: counts the bytes of a store by the kind of file, and times the syncs of logs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/watched_files.h"
#include "engine/store/operation_meter.h"

namespace cellar {

// Kinds of files, in the order of their names.
enum class FileClass : uint8_t { kLog, kManifest, kOther, kStoreFile };
inline constexpr size_t kFileClasses = 4;

// Returns the kind of a file by its name in a directory of a store.
FileClass file_class(std::string_view name);

// Any thread.
class FileMeter final : public FileWatch {
 public:
  // Borrows the meter, which hears of syncs of the log.
  explicit FileMeter(OperationMeter& operations) : operations_(operations) {}

  int kind_of(std::string_view name) override { return static_cast<int>(file_class(name)); }
  void wrote(int kind, uint64_t bytes) override { add(written_, kind, bytes); }
  void read(int kind, uint64_t bytes) override { add(read_, kind, bytes); }
  Status sync(int kind, WritableFile& file) override;

  // Return the bytes by kind: "log", "manifest", "other", "store_files".
  std::map<std::string, uint64_t> bytes_written() const { return map_of(written_); }
  std::map<std::string, uint64_t> bytes_read() const { return map_of(read_); }

 private:
  using Figures = std::array<std::atomic<uint64_t>, kFileClasses>;
  static void add(Figures& figures, int kind, uint64_t bytes) {
    CELLAR_DCHECK(kind >= 0 && static_cast<size_t>(kind) < kFileClasses);
    figures[static_cast<size_t>(kind)].fetch_add(bytes, std::memory_order_relaxed);
  }
  static std::map<std::string, uint64_t> map_of(const Figures& figures);

  OperationMeter& operations_;
  alignas(64) Figures written_ = {};
  alignas(64) Figures read_ = {};
};

}  // namespace cellar
