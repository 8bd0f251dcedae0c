// What the parts of the real file system share: descriptors that close themselves and errno as a Status.
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
  // Gives up ownership.
  int release() { return std::exchange(number_, -1); }
  // Closes and tells the errno, 0 when well.
  int close();

 private:
  int number_ = -1;
};

// "cannot create /data/log/…: No space left on device", with the code and hint that belong to `error` (an
// errno).
Status error_status(int error, const std::string& what, const std::string& path);

// openat() that is repeated when interrupted; always O_CLOEXEC. -1 and errno on failure.
Descriptor open_at(int directory, const char* name, int flags, unsigned mode = 0);

// Makes a system call again for as long as signals interrupt it (EINTR); returns what it returned.
template <class Call>
auto uninterrupted(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Makes an open regular file readable; anything else is kIoError.
Result<std::unique_ptr<ReadableFile>> make_readable(Descriptor file, std::string path);

// Takes a new, empty file, opened for writing; with mapped_bytes for reading too. On failure the caller
// unlinks it.
Result<std::unique_ptr<WritableFile>> make_writable(Descriptor file, std::string path, uint64_t mapped_bytes);

enum class LockKind : uint8_t { kExclusive, kShared };

// Locks the open file, which is `name` in `directory`, against this process too, and writes this process into
// it: kLocked, naming the holder.
Result<std::unique_ptr<FileLock>> make_lock(int directory, std::string_view name, Descriptor file,
                                            const std::string& path, LockKind kind);

}  // namespace cellar::posix
