// Shared by the parts of the real file system: descriptors that close themselves and errno as a Status.
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cellar/file_system.h"

namespace cellar::posix {

// Descriptor: an open file descriptor, or none. One thread at a time.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  void reset();
  // Returns the descriptor and gives up ownership.
  int release() { return std::exchange(number_, -1); }
  // Closes the descriptor. Returns the errno, or 0 on success.
  int close();

 private:
  int number_ = -1;
};

// Returns a Status such as "cannot create /data/log/…: No space left on device", with the code and hint
// that belong to `error` (an errno).
Status error_status(int error, const std::string& what, const std::string& path);

// Opens like openat(), always with O_CLOEXEC; repeats the call when interrupted. On failure the
// Descriptor is invalid, and errno is set.
Descriptor open_at(int directory, const char* name, int flags, unsigned mode = 0);

// Repeats a system call as long as signals interrupt it (EINTR); returns its result.
template <class Call>
auto uninterrupted(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Returns a readable file for an open regular file; kIoError if the file is not a regular one.
Result<std::unique_ptr<ReadableFile>> make_readable(Descriptor file, std::string path);

// Returns a writable file for a new, empty file opened for writing (with `mapped_bytes` also for
// reading). On failure the caller unlinks the file.
Result<std::unique_ptr<WritableFile>> make_writable(Descriptor file, std::string path, uint64_t mapped_bytes);

enum class LockKind : uint8_t { kExclusive, kShared };

// Locks the open file, which is `name` in `directory`, against this and other processes, and writes this
// process into the file. Error: kLocked, naming the holder, if it is already locked.
Result<std::unique_ptr<FileLock>> make_lock(int directory, std::string_view name, Descriptor file,
                                            const std::string& path, LockKind kind);

}  // namespace cellar::posix
