// The real file system: directories by descriptor and names by openat(2). Once a directory is open,
// nothing uses its path.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/posix_support.h"

namespace cellar {

namespace {

using posix::Descriptor;
using posix::error_status;
using posix::open_at;
using posix::uninterrupted;

// Only the owner may read a store, because its data is not for everyone who can log in.
constexpr unsigned kFileMode = 0600;
constexpr unsigned kSharedFileMode = 0644;
constexpr unsigned kDirectoryMode = 0700;
constexpr size_t kEntriesMax = 1'000'000;

Status sync_directory(int directory, const std::string& path) {
  if (uninterrupted([&] { return ::fsync(directory); }) == 0) return {};
  return error_status(errno, "cannot sync directory", path);
}

Result<DirectoryEntry> examine(int directory, const char* name, const std::string& path) {
  struct stat facts {};
  if (fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
    return error_status(errno, "cannot examine", path);
  DirectoryEntry entry;
  entry.name = name;
  entry.is_directory = S_ISDIR(facts.st_mode);
  entry.bytes = S_ISREG(facts.st_mode) ? static_cast<uint64_t>(facts.st_size) : 0;
  return entry;
}

// Any thread.
class PosixDirectory final : public Directory {
 public:
  PosixDirectory(Descriptor directory, std::string path)
      : directory_(std::move(directory)), path_(std::move(path)) {}

  Result<std::unique_ptr<WritableFile>> create(std::string_view name, uint64_t mapped_bytes) override {
    return create_with(name, mapped_bytes, kFileMode);
  }
  Result<std::unique_ptr<WritableFile>> create_shared(std::string_view name) override {
    return create_with(name, 0, kSharedFileMode);
  }

  Result<std::unique_ptr<ReadableFile>> open(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    // Opens without blocking, because a pipe may stand here. For regular files O_NONBLOCK has no effect.
    Descriptor file = open_at(fd(), std::string(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file.valid()) return error_status(errno, "cannot open", path_of(name));
    return posix::make_readable(std::move(file), path_of(name));
  }

  Result<std::vector<DirectoryEntry>> list() override {
    // Uses a descriptor of its own, so that two threads that list do not share a position.
    Descriptor again = open_at(fd(), ".", O_RDONLY | O_DIRECTORY);
    if (!again.valid()) return error_status(errno, "cannot list", path_);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(again.get()), ::closedir);
    if (stream == nullptr) return error_status(errno, "cannot list", path_);
    (void)again.release();  // closedir() closes it
    std::vector<DirectoryEntry> entries;
    while (true) {
      errno = 0;
      const dirent* found = ::readdir(stream.get());
      if (found == nullptr) break;
      if (std::strcmp(found->d_name, ".") == 0 || std::strcmp(found->d_name, "..") == 0) continue;
      if (entries.size() == kEntriesMax) {
        return Status::limit("directory " + path_ + " has more than 1,000,000 entries");
      }
      auto entry = examine(fd(), found->d_name, path_of(found->d_name));
      if (entry.ok()) {
        entries.push_back(std::move(entry).value());
      } else if (!entry.status().is(Code::kNotFound)) {  // not found: removed after its name was read
        return entry.status();
      }
    }
    if (errno != 0) return error_status(errno, "cannot list", path_);
    std::ranges::sort(entries, {}, &DirectoryEntry::name);
    return entries;
  }

  Status rename(std::string_view from, std::string_view to) override {
    CELLAR_TRY(check_file_name(from));
    CELLAR_TRY(check_file_name(to));
    if (::renameat(fd(), std::string(from).c_str(), fd(), std::string(to).c_str()) == 0) return {};
    const int error =
        errno == EEXIST ? ENOTEMPTY : errno;  // the system may report either for a directory with entries
    return error_status(error, "cannot rename", path_of(from)).with_context("to " + std::string(to));
  }

  Status unlink(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    if (::unlinkat(fd(), std::string(name).c_str(), 0) == 0) return {};
    return error_status(errno, "cannot remove", path_of(name));
  }

  Status link(std::string_view name, Directory& target, std::string_view target_name) override {
    CELLAR_TRY(check_file_name(name));
    CELLAR_TRY(check_file_name(target_name));
    const auto* other = dynamic_cast<const PosixDirectory*>(&target);
    if (other == nullptr) {
      return Status::not_supported("cannot link " + path_of(name) + " into another file system");
    }
    if (::linkat(fd(), std::string(name).c_str(), other->fd(), std::string(target_name).c_str(), 0) == 0)
      return {};
    const int error = errno == EPERM ? EOPNOTSUPP : errno;  // the errno of a medium without hard links
    return error_status(error, "cannot link", path_of(name))
        .with_context("to " + other->path_of(target_name));
  }

  Status sync_file(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    const Descriptor file = open_at(fd(), std::string(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file.valid()) return error_status(errno, "cannot open", path_of(name));
    if (uninterrupted([&] { return ::fsync(file.get()); }) == 0) return {};
    return error_status(errno, "cannot sync", path_of(name));
  }

  Result<std::unique_ptr<Directory>> directory(std::string_view name, bool create) override {
    CELLAR_TRY(check_file_name(name));
    const std::string text(name);
    if (create && ::mkdirat(fd(), text.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
      return error_status(errno, "cannot create directory", path_of(name));
    }
    Descriptor opened = open_at(fd(), text.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!opened.valid()) return error_status(errno, "cannot open directory", path_of(name));
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(std::move(opened), path_of(name)));
  }

  Status remove_directory(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    if (::unlinkat(fd(), std::string(name).c_str(), AT_REMOVEDIR) == 0) return {};
    const int error = errno == EEXIST ? ENOTEMPTY : errno;
    return error_status(error, "cannot remove directory", path_of(name));
  }

  Status sync() override { return sync_directory(fd(), path_); }

  Result<std::unique_ptr<FileLock>> lock(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    Descriptor file =
        open_at(fd(), std::string(name).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, kFileMode);
    if (!file.valid()) return error_status(errno, "cannot lock", path_of(name));
    return posix::make_lock(fd(), name, std::move(file), path_of(name), posix::LockKind::kExclusive);
  }

  Result<std::unique_ptr<FileLock>> lock_shared(std::string_view name) override {
    CELLAR_TRY(check_file_name(name));
    Descriptor file = open_at(fd(), std::string(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (!file.valid()) return error_status(errno, "cannot lock", path_of(name));
    return posix::make_lock(fd(), name, std::move(file), path_of(name), posix::LockKind::kShared);
  }

  Result<uint64_t> free_bytes() override {
    struct statvfs facts {};
    if (::fstatvfs(fd(), &facts) != 0) return error_status(errno, "cannot examine", path_);
    return uint64_t{facts.f_bavail} * facts.f_frsize;
  }

  std::string path() const override { return path_; }

 private:
  int fd() const { return directory_.get(); }
  std::string path_of(std::string_view name) const { return path_ + "/" + std::string(name); }
  Result<std::unique_ptr<WritableFile>> create_with(std::string_view name, uint64_t mapped_bytes,
                                                    unsigned mode) {
    CELLAR_TRY(check_file_name(name));
    const std::string path = path_of(name);
    const int access = mapped_bytes > 0 ? O_RDWR : O_WRONLY;
    Descriptor file = open_at(fd(), std::string(name).c_str(), access | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (!file.valid()) return error_status(errno, "cannot create", path);
    auto made = posix::make_writable(std::move(file), path, mapped_bytes);
    if (!made.ok()) (void)::unlinkat(fd(), std::string(name).c_str(), 0);  // undoes the failed create
    return made;
  }

  const Descriptor directory_;
  const std::string path_;
};

// Returns the directory that holds the last component of `path`.
std::string parent_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Creates the directory and syncs its parent, even if the directory exists: its creator may have died
// before the name was durable.
Status create_directory(const std::string& path) {
  const bool made = ::mkdir(path.c_str(), kDirectoryMode) == 0;
  if (!made && errno != EEXIST) return error_status(errno, "cannot create directory", path);
  const std::string parent = parent_of(path);
  const Descriptor opened = open_at(AT_FDCWD, parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (!opened.valid()) return made ? error_status(errno, "cannot open directory", parent) : Status();
  const Status synced = sync_directory(opened.get(), parent);
  return made ? synced : Status();
}

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<Directory>> open_directory(const std::string& path, bool create) override {
    if (path.empty() || path.find('\0') != path.npos) {
      return Status::invalid_argument("the path of a directory is empty or contains a zero byte");
    }
    if (create) CELLAR_TRY(create_directory(path));
    // Links are followed in the path of a store, because its owner decides where the store lies. Below
    // the store they are not followed.
    Descriptor opened = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!opened.valid()) return error_status(errno, "cannot open directory", path);
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(std::move(opened), path));
  }

  Result<std::unique_ptr<ReadableFile>> open_file(const std::string& path) override {
    if (path.empty() || path.find('\0') != path.npos) {
      return Status::invalid_argument("the path of a file is empty or contains a zero byte");
    }
    Descriptor file = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK);
    if (!file.valid()) return error_status(errno, "cannot open", path);
    return posix::make_readable(std::move(file), path);
  }

  std::string boot_identity() override {
    const Descriptor file = open_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY);
    if (!file.valid()) return {};
    char text[64];
    const ssize_t got = ::read(file.get(), text, sizeof text);
    std::string identity(text, got > 0 ? static_cast<size_t>(got) : 0);
    while (!identity.empty() && identity.back() == '\n') identity.pop_back();
    return identity;
  }
};

}  // namespace

FileSystem& posix_file_system() {
  static auto* files = new PosixFileSystem();
  return *files;
}

}  // namespace cellar
