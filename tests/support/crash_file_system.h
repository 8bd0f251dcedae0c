// CrashFileSystem: a file system in memory that knows what a medium would hold after a crash.
//
//   CrashFileSystem files;
//   files.stop_at(k);     // the k-th operation does not happen; from then on all fail
//   run_workload(files);  // it meets kIoError "crashed" somewhere
//
//   auto medium = files.image(CrashMode::kRandomUnsynced, seed);
//   … open the store on *medium and check its content …
//
// To sweep, run the workload once without stop_at(), and take operations(). Then run it once for each k up to
// that number, on a new CrashFileSystem. To crash in the recovery as well, take crash_image() and run the
// recovery on that with a stop_at().
//
// For each file, the appended and the synced bytes are kept apart. For each directory, its entries now, those
// of its last sync, and the operations between are kept. A file's sync does not make its name durable.
// open_directory(…, true) does at once. A sync that a FaultFileSystem over this one swallows never gets here.
// A test can therefore tell a needless sync from a needful one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cellar/file_system.h"

namespace cellar::testing {

// The state that is found afterwards. Mapped files keep their preallocated length, which ends in zeros,
// unless they were closed.
enum class CrashMode : uint8_t {
  kProcessKilled,  // all that was appended and named; a mapped append under way is torn: any of its 8-byte
                   // words, the first one only when all others are there
  kLoseUnsynced,   // exactly what was synced, under exactly the names that were
  kKeepAll,        // everything
  kPrefix,  // of each file's unsynced bytes a beginning; of each directory's unsynced operations the first
            // ones
  kRandomSectors,   // of each unsynced 512-byte sector its bytes or zeros; directory operations as in kPrefix
  kRandomEntries,   // all bytes; of each directory's unsynced operations any subset
  kRandomUnsynced,  // sectors as in kRandomSectors, operations as in kRandomEntries
  kZeroTail,        // files as long as they were, unsynced bytes zero; all names
  kTornTail,        // everything, but the last append ends at a sector's border
};
std::string_view crash_mode_name(CrashMode mode);
// All of the above, and those where a machine stopped rather than a process.
std::span<const CrashMode> all_crash_modes();
std::span<const CrashMode> power_loss_modes();

struct ImageOptions {
  CrashMode mode = CrashMode::kLoseUnsynced;
  uint64_t seed = 1;
  // The last append, or the one under way when stop_at() struck, as if it had been interrupted there. The
  // bytes after that are missing in a plain file, and zero in a mapped one. last_append_bytes() tells how
  // long it is.
  std::optional<uint64_t> last_append_bytes = {};
  // Which of its 8-byte words are there; missing ones are zero. Takes precedence.
  std::optional<std::vector<bool>> last_append_words = {};
};

// Any thread. Paths are as in MemoryFileSystem.
class CrashFileSystem final : public FileSystem {
 public:
  CrashFileSystem();
  ~CrashFileSystem() override;

  // The operation with this number (from 1) does not happen; it and all later calls, reading ones too, fail.
  // If it is an append to a plain file, its first `append_bytes` bytes happen.
  void stop_at(uint64_t operation, uint64_t append_bytes = 0);
  // The same, now.
  void crash();
  bool crashed() const;

  // Operations that can change the medium, so far: create, append, sync, close, rename, unlink, link, lock,
  // directory sync, making and removing a directory.
  uint64_t operations() const;
  // "17: append log/000001 96 bytes", for messages. All of them, a line each.
  std::string operation_text(uint64_t operation) const;
  std::string operation_texts() const;

  // Returns the content of the medium after a crash at this moment. The same options give the same image. The
  // files go on as they were.
  std::unique_ptr<FileSystem> image(CrashMode mode, uint64_t seed = 1) const;
  std::unique_ptr<FileSystem> image(const ImageOptions& options) const;
  // The same as a CrashFileSystem, all of it durable, operations counted from 1 again.
  std::unique_ptr<CrashFileSystem> crash_image(const ImageOptions& options) const;

  // Length of the last append to any file, 0 when there was none.
  uint64_t last_append_bytes() const;

  Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) override;
  Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) override;
  // Another one in the image of a machine that stopped; the same in that of a process that was killed.
  std::string boot_identity() override;

 private:
  friend class CrashDirectory;
  friend class CrashReadable;
  friend class CrashWritable;
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with what was opened
};

// Every directory below the root with its files, their sizes and a checksum of their bytes; for comparing
// images.
std::string list_tree(FileSystem& files, const std::string& path = "/");

}  // namespace cellar::testing
