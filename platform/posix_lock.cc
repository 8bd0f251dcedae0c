// Locks: an open-file-description lock against other processes, and a table by (device, inode) against
// this process.
//
// Classic fcntl locks would not work. Two locks of one process do not conflict, and all of them vanish when
// any descriptor of the file is closed. Locks of the open file description conflict even within a process,
// but a forked child shares them. Therefore only the process that took a lock may release it. The child
// inherits the table, which refuses a second lock there.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "base/mutex.h"
#include "platform/posix_support.h"

namespace cellar::posix {

namespace {

using FileIdentity = std::pair<dev_t, ino_t>;

struct LockTable {
  Mutex mutex;
  std::map<FileIdentity, std::string> held CELLAR_GUARDED_BY(mutex);  // holder's name, for messages
};

LockTable& lock_table() {
  static auto* table = new LockTable();
  return *table;
}

std::string this_process() {
  return "process " + std::to_string(getpid()) + " (" + program_invocation_short_name + ")";
}

// Returns what the holder wrote into its lock file, for a message: printable, and at most one line.
std::string read_holder(int file) {
  char text[160];
  const ssize_t got = pread(file, text, sizeof text, 0);
  std::string_view holder(text, got > 0 ? static_cast<size_t>(got) : 0);
  holder = holder.substr(0, holder.find('\n'));
  return holder.empty() ? "another process" : escaped(holder);
}

// Writes the holder into the lock file, for messages only: a lock file that cannot be written still
// locks.
void write_holder(int file) {
  const std::string text = this_process() + "\n";
  if (ftruncate(file, 0) != 0) return;
  (void)!pwrite(file, text.data(), text.size(), 0);
}

struct flock whole_file(short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  return range;
}

Status refused(const std::string& path, const std::string& holder) {
  return Status::locked(path + " is locked by " + holder)
      .hinting("close what has it open there, or wait until it ends");
}

class PosixLock final : public FileLock {
 public:
  PosixLock(Descriptor directory, std::string name, Descriptor file, FileIdentity identity, LockKind kind)
      : directory_(std::move(directory)),
        name_(std::move(name)),
        file_(std::move(file)),
        identity_(identity),
        kind_(kind),
        owner_(getpid()) {}

  ~PosixLock() override {
    if (getpid() != owner_) return;  // in a forked child the lock belongs to the parent
    LockTable& table = lock_table();
    const MutexLock lock(table.mutex);
    // Removes the holder's name, so that a later message does not show a holder that is gone.
    if (kind_ == LockKind::kExclusive) (void)!ftruncate(file_.get(), 0);
    struct flock range = whole_file(F_UNLCK);
    (void)fcntl(file_.get(), F_OFD_SETLK, &range);
    if (kind_ == LockKind::kExclusive) table.held.erase(identity_);
  }

  Status check() const override {
    struct stat facts {};
    if (fstatat(directory_.get(), name_.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) return error_status(errno, "cannot examine", name_);
    } else if (FileIdentity(facts.st_dev, facts.st_ino) == identity_) {
      return {};
    }
    return Status::locked("the lock file " + name_ + " was removed or replaced while it was held")
        .hinting("another process may have the store open now: end both, then look at the store with verify");
  }

 private:
  Descriptor directory_;
  const std::string name_;
  Descriptor file_;
  const FileIdentity identity_;
  const LockKind kind_;
  const pid_t owner_;
};

}  // namespace

Result<std::unique_ptr<FileLock>> make_lock(int directory, std::string_view name, Descriptor file,
                                            const std::string& path, LockKind kind) {
  Descriptor kept(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  if (!kept.valid()) return error_status(errno, "cannot lock", path);
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return error_status(errno, "cannot examine", path);
  if (!S_ISREG(facts.st_mode)) return Status::io_error("cannot lock " + path + ": it is not a regular file");
  const FileIdentity identity(facts.st_dev, facts.st_ino);

  LockTable& table = lock_table();
  const MutexLock lock(table.mutex);
  if (const auto held = table.held.find(identity); held != table.held.end())
    return refused(path, held->second);
  struct flock range = whole_file(kind == LockKind::kExclusive ? F_WRLCK : F_RDLCK);
  if (uninterrupted([&] { return ::fcntl(file.get(), F_OFD_SETLK, &range); }) != 0) {
    if (errno == EACCES || errno == EAGAIN) return refused(path, read_holder(file.get()));
    return error_status(errno, "cannot lock", path);
  }
  if (kind == LockKind::kExclusive) {
    write_holder(file.get());
    table.held.emplace(identity, this_process());
  }
  return std::unique_ptr<FileLock>(
      std::make_unique<PosixLock>(std::move(kept), std::string(name), std::move(file), identity, kind));
}

}  // namespace cellar::posix
