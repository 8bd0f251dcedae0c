// Descriptors, and errno as a Status.
#include "platform/posix_support.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace cellar::posix {

namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kInvalidArgument;
    case ENOSPC:
    case EDQUOT:
      return Code::kNoSpace;
    case EOPNOTSUPP:
    case ENOSYS:
    case EXDEV:
    case EMLINK:
      return Code::kNotSupported;
    default:
      return Code::kIoError;
  }
}

const char* hint_of(int error) {
  switch (error) {
    case ENOSPC:
      return "free some space on the medium";
    case EDQUOT:
      return "the quota of this user is used up";
    case EACCES:
    case EPERM:
      return "check who owns it and what its permissions allow";
    case EROFS:
      return "the medium is mounted read-only";
    case EMFILE:
      return "raise this process's limit of open files (ulimit -n)";
    case ENFILE:
      return "the machine's limit of open files is reached";
    case ELOOP:
      return "it is a symbolic link, which is never followed here";
    default:
      return "";
  }
}

}  // namespace

void Descriptor::reset() { (void)close(); }

int Descriptor::close() {
  const int number = std::exchange(number_, -1);
  if (number < 0) return 0;
  // The call is not repeated on EINTR: on Linux the descriptor is closed in any case, and its number may
  // have been reused.
  return ::close(number) == 0 || errno == EINTR ? 0 : errno;
}

Status error_status(int error, const std::string& what, const std::string& path) {
  return Status::with_code(code_of(error), what + " " + path + ": " + std::generic_category().message(error))
      .hinting(hint_of(error));
}

Descriptor open_at(int directory, const char* name, int flags, unsigned mode) {
  return Descriptor(uninterrupted([&] { return ::openat(directory, name, flags | O_CLOEXEC, mode); }));
}

}  // namespace cellar::posix
