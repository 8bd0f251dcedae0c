// FileSystem, Directory, ReadableFile, WritableFile: everything that Cellar needs of a disk.
//
// Contract, kept by every implementation and relied upon by the engine's protocols:
//  - Bytes are durable only after WritableFile::sync() returned ok; a name is durable only after
//    Directory::sync() did.
//  - A file is created, appended to and closed; it is never truncated, overwritten or reopened for appending.
//  - After any failed append, sync or close a WritableFile is dead: every later call returns the first
//    failure.
//  - Names are single components ("manifest-000001"), never paths: no '/', no NUL, not "." or "..", 1 to 255
//    bytes.
// Any thread may call any function of FileSystem, Directory and ReadableFile. A WritableFile is for one
// thread at a time, except that make_ready() and sync() may run concurrently with append(). A sync() then
// covers at least what was appended before it started.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// One positioned read of a batch: `bytes` from `offset` into `into`.
struct ReadRequest {
  uint64_t offset = 0;
  size_t bytes = 0;
  char* into = nullptr;
};

// ReadableFile: positioned reads of a file whose size was fixed when it was opened.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  virtual uint64_t size() const = 0;
  // Returns the size that the file has at this moment. Another user may have cut it since it was opened, or
  // made it longer; size() stays what it was. Error: kIoError. The default returns size().
  virtual Result<uint64_t> present_size() const;

  // Fills `into` with exactly `bytes` bytes from `offset`. A range beyond size() is kCorruption ("short
  // read"), a failing device kIoError. Nothing is promised about `into` after an error.
  virtual Status read(uint64_t offset, size_t bytes, char* into) const = 0;

  // Does several reads, in any order, and returns the first failure. Default: one after the other.
  virtual Status read_many(std::span<const ReadRequest> requests) const;

  // Returns the first place at or after `offset` at which bytes may differ from zero, and sets `end` to where
  // the next hole begins. So a reader need not read the holes of a sparse file. Both are size() if only zeros
  // follow. Default: everything from `offset` on is data.
  virtual Result<uint64_t> next_data(uint64_t offset, uint64_t& end) const;

  // A hint that this range is read soon. Never fails, may do nothing.
  virtual void will_need(uint64_t offset, uint64_t bytes) const;

  // Maps the file into memory. The memory has size() bytes and may outlive the file object. As long as it
  // lives, the space of the file on disk stays in use. If the medium cannot give a byte any more, a read of
  // this memory ends the process by a signal (SIGBUS). Returns null if files of this kind cannot be mapped,
  // which is the default. kIoError if the system refuses.
  virtual Result<std::shared_ptr<const char>> map() const;
};

// WritableFile: a new file that only grows.
class WritableFile {
 public:
  // Closes without reporting; call close() to hear of errors.
  virtual ~WritableFile() = default;

  // Appends all bytes or fails. In mapped mode (Directory::create with mapped_bytes) a piece has at least 8
  // bytes. Its first 8 bytes are stored last, with release order. A reader of the file therefore sees zeros
  // there or the whole piece. Error: kNoSpace if the medium, or in mapped mode the mapping, is full; nothing
  // was appended.
  virtual Status append(std::string_view bytes) = 0;

  // Prepares appends of a file in mapped mode, up to a size of `until` bytes. They then find their pages in
  // memory and room on the medium. Full pages leave the memory of the process. An append prepares itself if
  // nobody did. May run concurrently with append(), sync() and itself. Error: kNoSpace if the medium is full;
  // the file stays usable. The default does nothing.
  virtual Status make_ready(uint64_t until);

  // Makes everything durable that was appended before the call. May run concurrently with append().
  virtual Status sync() = 0;

  // Returns the number of bytes appended so far.
  virtual uint64_t size() const = 0;

  // Ends writing; in mapped mode cuts the file to size(). Does not imply sync(). A second close() is ok and
  // does nothing.
  virtual Status close() = 0;
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
  uint64_t bytes = 0;  // of a file
};

// FileLock: an exclusive or shared lock on a name, held until destroyed. Not inherited usefully by fork().
class FileLock {
 public:
  virtual ~FileLock() = default;
  // Returns ok while the locked name still leads to the locked file. Error: kLocked if the file was removed
  // or replaced, so that another process may hold a lock, too. The default checks nothing and returns ok.
  virtual Status check() const { return {}; }
};

// Directory: an open directory. Names are relative to it, whatever happens to its own path.
class Directory {
 public:
  virtual ~Directory() = default;

  // Creates `name`, which must not exist (kInvalidArgument otherwise), for appending. With mapped_bytes
  // greater than 0 the file has this size until close(), and appends go through a shared mapping. An append
  // then costs no system call, and survives the end of the process, but not of the machine. The file reads as
  // zeros after what was appended. WritableFile::make_ready() takes room on the medium. kNotSupported or
  // kNoSpace if the medium cannot preallocate.
  virtual Result<std::unique_ptr<WritableFile>> create(std::string_view name, uint64_t mapped_bytes = 0) = 0;
  // Like create(name), and other users may read the file, as far as the process's umask lets them. The
  // default makes no difference.
  virtual Result<std::unique_ptr<WritableFile>> create_shared(std::string_view name) { return create(name); }
  // Opens a regular file (never a link or device): kNotFound, kIoError.
  virtual Result<std::unique_ptr<ReadableFile>> open(std::string_view name) = 0;
  // All entries except "." and "..", sorted by name; more than 1,000,000 is kLimit.
  virtual Result<std::vector<DirectoryEntry>> list() = 0;
  // Gives `from` the name `to`, replacing what had it, atomically.
  virtual Status rename(std::string_view from, std::string_view to) = 0;
  // Removes a file. Error: kNotFound if it does not exist.
  virtual Status unlink(std::string_view name) = 0;
  // Gives a file a second name, in `target` of the same file system. Error: kNotSupported if the file system
  // has no links.
  virtual Status link(std::string_view name, Directory& target, std::string_view target_name) = 0;
  // Makes the content of a file durable that somebody else has written; its name is not. kNotSupported, the
  // default, where that cannot be done.
  virtual Status sync_file(std::string_view name);
  // Opens a sub-directory; with `create` it is made when absent (its name is durable after sync() of this
  // directory).
  virtual Result<std::unique_ptr<Directory>> directory(std::string_view name, bool create) = 0;
  // Removes an empty sub-directory.
  virtual Status remove_directory(std::string_view name) = 0;
  // Makes creations, renames and removals in this directory durable.
  virtual Status sync() = 0;
  // Locks `name`, which is created if absent, against every other holder in this and other processes. Error:
  // kLocked, with the holder's process in the message where it can be known.
  virtual Result<std::unique_ptr<FileLock>> lock(std::string_view name) = 0;
  // Locks the existing file `name`, together with other shared holders, against exclusive ones. Writes
  // nothing. kNotFound, kLocked.
  virtual Result<std::unique_ptr<FileLock>> lock_shared(std::string_view name) = 0;
  // Returns the number of bytes that can still be written: an estimate, not a promise.
  virtual Result<uint64_t> free_bytes() = 0;
  // Returns the path, for messages.
  virtual std::string path() const = 0;
};

// FileSystem: opens directories by path. The only place where paths occur. Neither it nor its files call the
// engine, this or another one.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Opens a directory; with `create` the last component is made when absent and its name made durable.
  virtual Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) = 0;
  // Opens one file for reading by its path; for tools that are handed a file.
  virtual Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) = 0;
  // Names the start of the machine. While the name stays the same, the files have all bytes that processes
  // wrote, synced or not. Empty, the default, if it is unknown.
  virtual std::string boot_identity() { return {}; }
};

// Returns ok if `name` obeys the rule at the top of this file, else kInvalidArgument with the name.
Status check_file_name(std::string_view name);

// Returns the machine's file system. It lives forever.
FileSystem& posix_file_system();

}  // namespace cellar
