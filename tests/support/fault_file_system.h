// FaultFileSystem: any FileSystem, with failures injected by rule and a record of every call.
//
//   FaultFileSystem files(*memory);
//
//   files.fail(FileOperation::kSync, "log/*", 3);  // the third sync of a log file fails, once
//
//   files.inject({.on = kAllWrites, .nth = k, .sticky = true, .code = Code::kNoSpace});
//
//   files.swallow(FileOperation::kSync, "manifest-*");  // each sync of a manifest does nothing, says ok
//
// files.clear() heals. files.log() lists the calls, and files.count(FileOperation::kRename) counts them.
//
// A name is the path below the directory that was opened ("log/000001"). A directory itself is "log", the
// opened one ".". A pattern matches the whole of it or its last component. In it '*' stands for any
// characters, '?' for one. To sweep, run the workload once, and take count(). Then run it again for each nth
// up to that count.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cellar/file_system.h"

namespace cellar::testing {

enum class FileOperation : uint8_t {
  kCreate,
  kAppend,
  kMakeReady,
  kSync,  // of a file
  kClose,
  kOpen,  // of a file for reading
  kRead,
  kList,
  kRename,  // its name is the old one
  kUnlink,
  kLink,
  kDirectory,  // opening or making a sub-directory, or opening one by path
  kRemoveDirectory,
  kDirectorySync,
  kLock,
};
std::string_view operation_name(FileOperation operation);

// A set of operations; one converts to the set of itself.
class FileOperations {
 public:
  constexpr FileOperations(FileOperation one) : bits_(bit(one)) {}  // NOLINT: implicit on purpose
  constexpr FileOperations(std::initializer_list<FileOperation> all) {
    for (const FileOperation each : all) bits_ |= bit(each);
  }
  constexpr bool has(FileOperation operation) const { return (bits_ & bit(operation)) != 0; }

 private:
  static constexpr uint32_t bit(FileOperation operation) {
    return uint32_t{1} << static_cast<unsigned>(operation);
  }
  uint32_t bits_ = 0;
};

// The operations that can change the medium, those that only look, and all.
inline constexpr FileOperations kAllWrites = {FileOperation::kCreate,          FileOperation::kAppend,
                                              FileOperation::kMakeReady,       FileOperation::kSync,
                                              FileOperation::kClose,           FileOperation::kRename,
                                              FileOperation::kUnlink,          FileOperation::kLink,
                                              FileOperation::kDirectory,       FileOperation::kDirectorySync,
                                              FileOperation::kRemoveDirectory, FileOperation::kLock};
inline constexpr FileOperations kAllReads = {FileOperation::kOpen, FileOperation::kRead,
                                             FileOperation::kList};
inline constexpr FileOperations kAllOperations = {FileOperation::kCreate,
                                                  FileOperation::kAppend,
                                                  FileOperation::kMakeReady,
                                                  FileOperation::kSync,
                                                  FileOperation::kClose,
                                                  FileOperation::kOpen,
                                                  FileOperation::kRead,
                                                  FileOperation::kList,
                                                  FileOperation::kRename,
                                                  FileOperation::kUnlink,
                                                  FileOperation::kLink,
                                                  FileOperation::kDirectory,
                                                  FileOperation::kRemoveDirectory,
                                                  FileOperation::kLock,
                                                  FileOperation::kDirectorySync};

struct Fault {
  enum class Kind : uint8_t {
    kFail,     // the call fails with `code`
    kSwallow,  // the call does nothing and says ok: for kSync, kDirectorySync, kUnlink, kClose; others fail
    kFlipBit,  // of kRead: it succeeds, with one bit of the bytes turned
  };

  FileOperations on = kAllOperations;
  std::string name = "*";
  uint64_t nth = 1;     // the first matching call it strikes, counted from when it was injected; 0: all
  bool sticky = false;  // it strikes all matching ones from there on
  Kind kind = Kind::kFail;
  Code code = Code::kIoError;
  std::optional<size_t> short_append =
      {};  // kFail of kAppend: so many bytes are appended before (not mapped)
};

struct FileCall {
  FileOperation operation = FileOperation::kCreate;
  std::string name;
  std::string detail;   // "-> new name", "4096 bytes at 0"; may be empty
  uint64_t number = 0;  // from 1
};

// Any thread, except that rules and the hook are set while nothing else runs. A file whose append, sync or
// close failed is dead, as the contract has it.
class FaultFileSystem final : public FileSystem {
 public:
  explicit FaultFileSystem(FileSystem& inner);
  explicit FaultFileSystem(FaultFileSystem& inner)
      : FaultFileSystem(static_cast<FileSystem&>(inner)) {}  // no copy
  ~FaultFileSystem() override;

  void inject(Fault fault);
  // The nth matching call fails, once (0: each).
  void fail(FileOperations on, std::string name, uint64_t nth, Code code = Code::kIoError);
  // The nth matching call is swallowed, once (0: each).
  void swallow(FileOperations on, std::string name, uint64_t nth = 0);
  // Removes all rules: from now on everything works, except files that are dead.
  void clear();

  // Called before each call is done or struck, without a lock held. It may inject, or stop the world.
  void before_each(std::function<void(const FileCall&)> hook);

  // Calls made since the beginning or the last clear_log(), struck ones included.
  uint64_t count(FileOperations on = kAllOperations, std::string_view name = "*") const;
  // How often a rule struck.
  uint64_t struck() const;
  // Returns how many files are open for reading.
  size_t open_readers() const;

  // Returns a line for each call: "append log/000001 96 bytes". If a rule struck, "failed: …" or "swallowed"
  // follows.
  std::string log(FileOperations on = kAllOperations, std::string_view name = "*") const;
  void clear_log();

  Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) override;
  Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) override;
  std::string boot_identity() override { return inner_.boot_identity(); }

 private:
  friend class FaultDirectory;
  friend class FaultReadable;
  friend class FaultWritable;
  struct Impl;
  FileSystem& inner_;
  std::shared_ptr<Impl> impl_;  // shared with what was opened, which may live longer
};

// '*' any characters, '?' one; of the whole name or of its last component.
bool name_matches(std::string_view pattern, std::string_view name);

}  // namespace cellar::testing
