// Faults: a library to be preloaded into a program, in which chosen calls of the C library then fail, fall
// short, or end the process.
//
// CELLAR_FAULT_CALL    which call: see kCallNames; "clock" is clock_gettime of the wall clock.
//                      ("count" strikes no call, but counts all)
//
// CELLAR_FAULT_ACTION  an errno by name (EIO), "short", "kill-before", "kill-after", or "step" for the clock
//
// CELLAR_FAULT_AT      the number of the first call that is struck, from 1
//
// CELLAR_FAULT_FOR     how many calls are struck; 0: all from there on
//
// CELLAR_FAULT_BELOW   only files below this directory count; the clock counts always
//
// CELLAR_FAULT_STEP_S  by how many seconds the clock is wrong while it is struck
//
// CELLAR_FAULT_COUNTS  a file of 8-byte numbers: calls struck, then calls seen of each kind.
//                      (The file outlives the process.)
#undef _FORTIFY_SOURCE  // its inline functions would collide with the definitions here
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

enum Call {
  kWrite,
  kRead,
  kFsync,
  kFdatasync,
  kRename,
  kOpen,
  kMmap,
  kMsync,
  kFallocate,
  kFtruncate,
  kUnlink,
  kClose,
  kMkdir,
  kLink,
  kMadvise,
  kClock,
  kCalls
};
constexpr const char* kCallNames[kCalls] = {"write", "read",  "fsync",     "fdatasync", "rename", "open",
                                            "mmap",  "msync", "fallocate", "ftruncate", "unlink", "close",
                                            "mkdir", "link",  "madvise",   "clock"};

enum class Action { kError, kShort, kKillBefore, kKillAfter, kStep };

struct ErrorName {
  const char* name;
  int number;
};
constexpr ErrorName kErrors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE},
                                 {"EINTR", EINTR},   {"ENOMEM", ENOMEM}, {"EACCES", EACCES},
                                 {"EDQUOT", EDQUOT}, {"EROFS", EROFS}};

struct Counts {
  std::atomic<uint64_t> struck;
  std::atomic<uint64_t> calls[kCalls];
  char path[PATH_MAX];
};

struct Plan {
  int call = -1;
  Action action = Action::kError;
  int error = EIO;
  uint64_t first = 1;
  uint64_t strikes = 1;
  time_t step_s = 0;
  std::array<char, PATH_MAX> below = {};
  Counts* counts = nullptr;
};

Plan plan;
std::atomic<bool> active{false};  // between the constructor below and the end of the fault

[[noreturn]] void refuse(const char* what) {
  constexpr char kBegin[] = "faults: ";
  static_cast<void>(!syscall(SYS_write, 2, kBegin, sizeof kBegin - 1));
  static_cast<void>(!syscall(SYS_write, 2, what, strlen(what)));
  static_cast<void>(!syscall(SYS_write, 2, "\n", 1));
  syscall(SYS_exit_group, 120);
  __builtin_unreachable();
}

uint64_t number_of(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

void read_action(const char* text) {
  if (std::strcmp(text, "short") == 0) {
    plan.action = Action::kShort;
  } else if (std::strcmp(text, "kill-before") == 0) {
    plan.action = Action::kKillBefore;
  } else if (std::strcmp(text, "kill-after") == 0) {
    plan.action = Action::kKillAfter;
  } else if (std::strcmp(text, "step") == 0) {
    plan.action = Action::kStep;
  } else {
    for (const ErrorName& each : kErrors) {
      if (std::strcmp(text, each.name) != 0) continue;
      plan.error = each.number;
      return;
    }
    refuse("CELLAR_FAULT_ACTION is unknown");
  }
}

void map_counts(const char* path) {
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  if (file < 0) refuse("CELLAR_FAULT_COUNTS cannot be opened");
  const long at = syscall(SYS_mmap, nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (at < 0 && at > -4096) refuse("CELLAR_FAULT_COUNTS cannot be mapped");
  plan.counts = reinterpret_cast<Counts*>(at);
}

// Before main(). Programs that the process starts are left alone: the variable is taken out of the
// environment.
__attribute__((constructor)) void read_plan() {
  const char* call = std::getenv("CELLAR_FAULT_CALL");
  if (call == nullptr) return;
  for (int i = 0; i < kCalls; ++i)
    if (std::strcmp(call, kCallNames[i]) == 0) plan.call = i;
  if (std::strcmp(call, "count") == 0) plan.call = kCalls;
  const char* action = std::getenv("CELLAR_FAULT_ACTION");
  const char* counts = std::getenv("CELLAR_FAULT_COUNTS");
  const char* below = std::getenv("CELLAR_FAULT_BELOW");
  if (plan.call < 0 || action == nullptr || counts == nullptr) refuse("CELLAR_FAULT_… is incomplete");
  if (plan.call != kClock && (below == nullptr || below[0] != '/' || std::strlen(below) >= plan.below.size()))
    refuse("CELLAR_FAULT_BELOW is not an absolute path");
  read_action(action);
  if (below != nullptr) std::strncpy(plan.below.data(), below, plan.below.size() - 1);
  plan.first = number_of("CELLAR_FAULT_AT", 1);
  plan.strikes = number_of("CELLAR_FAULT_FOR", 1);
  if (const char* step = std::getenv("CELLAR_FAULT_STEP_S")) plan.step_s = std::strtoll(step, nullptr, 10);
  map_counts(counts);
  unsetenv("CELLAR_FAULT_CALL");
  active.store(true);
}

// ---- Which files count ----

bool is_below(const char* path) {
  const size_t bytes = std::strlen(plan.below.data());
  return std::strncmp(path, plan.below.data(), bytes) == 0 && (path[bytes] == '/' || path[bytes] == '\0');
}

// The path of a descriptor, AT_FDCWD included; empty when it has none.
void path_of(int file, char (&path)[PATH_MAX]) {
  char link[64] = "/proc/self/cwd";
  if (file != AT_FDCWD) {
    char digits[16];
    size_t count = 0;
    for (unsigned left = static_cast<unsigned>(file); left > 0 || count == 0; left /= 10)
      digits[count++] = static_cast<char>('0' + left % 10);
    std::strcpy(link, "/proc/self/fd/");
    size_t at = std::strlen(link);
    while (count > 0) link[at++] = digits[--count];
    link[at] = '\0';
  }
  const long bytes = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  path[bytes > 0 ? bytes : 0] = '\0';
}

bool counts_file(int file) {
  if (file < 0) return false;
  char path[PATH_MAX];
  path_of(file, path);
  return is_below(path);
}

bool counts_path(int directory, const char* name) {
  if (name[0] == '/') return is_below(name);
  char path[PATH_MAX];
  path_of(directory, path);
  if (is_below(path)) return true;
  const size_t bytes = std::strlen(path);
  if (bytes + 1 + std::strlen(name) >= sizeof path) return false;
  path[bytes] = '/';
  std::strcpy(path + bytes + 1, name);
  return is_below(path);
}

// Mapped files that count, by address. Few at a time: a log has two segments mapped.
struct Mapping {
  std::atomic<const char*> begin{nullptr};
  std::atomic<size_t> bytes{0};
};
std::array<Mapping, 256> mappings;

void note_mapping(const void* begin, size_t bytes) {
  for (Mapping& each : mappings) {
    const char* nothing = nullptr;
    if (!each.begin.compare_exchange_strong(nothing, static_cast<const char*>(begin))) continue;
    each.bytes.store(bytes);
    return;
  }
  refuse("too many mapped files");
}

void forget_mapping(const void* begin) {
  for (Mapping& each : mappings)
    if (each.begin.load() == begin) each.begin.store(nullptr);
}

bool counts_address(const void* address) {
  const char* at = static_cast<const char*>(address);
  for (const Mapping& each : mappings) {
    const char* begin = each.begin.load();
    if (begin != nullptr && at >= begin && at < begin + each.bytes.load()) return true;
  }
  return false;
}

// ---- Striking ----

// Returns true if this call, which counts, is struck.
bool strikes() {
  const uint64_t number = plan.counts->calls[plan.call].fetch_add(1) + 1;
  if (number < plan.first || (plan.strikes != 0 && number >= plan.first + plan.strikes)) return false;
  plan.counts->struck.fetch_add(1);
  return true;
}

// As strikes(), and remembers of which file.
bool strikes_sync(int file) {
  if (!strikes()) return false;
  if (plan.counts->struck.load() == 1) path_of(file, plan.counts->path);
  return true;
}

void end_process() {
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  for (;;) syscall(SYS_pause);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class Counted>
void count(int kind, const Counted& counts) {
  const int before = errno;
  if (counts()) plan.counts->calls[kind].fetch_add(1);
  errno = before;
}

// Makes the call of `kind`: as it is, or struck when it counts and its turn has come. `failed` is what it
// returns on failure, with errno set.
template <class Counted, class Real, class Result>
Result perform(int kind, const Counted& counts, const Real& real, Result failed, int synced = -1) {
  if (!active.load(std::memory_order_relaxed)) return real();
  if (plan.call == kCalls) count(kind, counts);
  if (kind != plan.call) return real();
  const int before = errno;
  const bool struck = counts() && (synced < 0 ? strikes() : strikes_sync(synced));
  errno = before;
  if (!struck) return real();
  switch (plan.action) {
    case Action::kError:
      errno = plan.error;
      return failed;
    case Action::kKillBefore:
      end_process();
      return failed;
    case Action::kKillAfter: {
      static_cast<void>(real());
      end_process();
      return failed;
    }
    case Action::kShort:
    case Action::kStep:
      return real();
  }
  return failed;
}

// As perform(), of a call that moves bytes: struck it may move half of them.
template <class Real>
ssize_t transfer(int kind, int file, size_t bytes, const Real& real) {
  const bool wanted =
      active.load(std::memory_order_relaxed) && kind == plan.call && plan.action == Action::kShort;
  if (wanted && bytes > 1 && counts_file(file) && strikes()) return real(bytes / 2);
  if (wanted) return real(bytes);
  return perform(
      kind, [&] { return counts_file(file); }, [&] { return real(bytes); }, ssize_t{-1});
}

}  // namespace

// The calls, in place of those of the C library.
extern "C" {
#define CELLAR_FAULTS_SHOWN __attribute__((visibility("default")))

// For the program itself: from here on nothing is struck.
CELLAR_FAULTS_SHOWN void cellar_faults_end();
void cellar_faults_end() { active.store(false); }

CELLAR_FAULTS_SHOWN ssize_t write(int file, const void* from, size_t bytes) {
  static const auto real = next<decltype(write)>("write");
  return transfer(kWrite, file, bytes, [&](size_t part) { return real(file, from, part); });
}
CELLAR_FAULTS_SHOWN ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
  static const auto real = next<decltype(pwrite)>("pwrite");
  return transfer(kWrite, file, bytes, [&](size_t part) { return real(file, from, part, at); });
}
CELLAR_FAULTS_SHOWN ssize_t pread(int file, void* into, size_t bytes, off_t at) {
  static const auto real = next<decltype(pread)>("pread");
  return transfer(kRead, file, bytes, [&](size_t part) { return real(file, into, part, at); });
}
CELLAR_FAULTS_SHOWN int fsync(int file) {
  static const auto real = next<decltype(fsync)>("fsync");
  return perform(
      kFsync, [&] { return counts_file(file); }, [&] { return real(file); }, -1, file);
}
CELLAR_FAULTS_SHOWN int fdatasync(int file) {
  static const auto real = next<decltype(fdatasync)>("fdatasync");
  return perform(
      kFdatasync, [&] { return counts_file(file); }, [&] { return real(file); }, -1, file);
}
CELLAR_FAULTS_SHOWN int renameat(int from_in, const char* from, int to_in, const char* to) noexcept {
  static const auto real = next<decltype(renameat)>("renameat");
  return perform(
      kRename, [&] { return counts_path(to_in, to); }, [&] { return real(from_in, from, to_in, to); }, -1);
}
CELLAR_FAULTS_SHOWN int rename(const char* from, const char* to) noexcept {
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
CELLAR_FAULTS_SHOWN int openat(int directory, const char* name, int flags, ...) {
  static const auto real = next<int(int, const char*, int, mode_t)>("openat");
  mode_t mode = 0;
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return perform(
      kOpen, [&] { return counts_path(directory, name); }, [&] { return real(directory, name, flags, mode); },
      -1);
}
CELLAR_FAULTS_SHOWN void* mmap(void* wanted, size_t bytes, int access, int flags, int file,
                               off_t at) noexcept {
  static const auto real = next<decltype(mmap)>("mmap");
  const auto counts = [&] { return (flags & MAP_ANONYMOUS) == 0 && counts_file(file); };
  void* mapped = perform(
      kMmap, counts, [&] { return real(wanted, bytes, access, flags, file, at); }, MAP_FAILED);
  const bool noted = plan.call == kMsync || plan.call == kMadvise || plan.call == kCalls;
  if (noted && mapped != MAP_FAILED && counts()) note_mapping(mapped, bytes);
  return mapped;
}
CELLAR_FAULTS_SHOWN int munmap(void* begin, size_t bytes) noexcept {
  static const auto real = next<decltype(munmap)>("munmap");
  forget_mapping(begin);
  return real(begin, bytes);
}
CELLAR_FAULTS_SHOWN int msync(void* begin, size_t bytes, int flags) {
  static const auto real = next<decltype(msync)>("msync");
  return perform(
      kMsync, [&] { return counts_address(begin); }, [&] { return real(begin, bytes, flags); }, -1);
}
CELLAR_FAULTS_SHOWN int madvise(void* begin, size_t bytes, int advice) noexcept {
  static const auto real = next<decltype(madvise)>("madvise");
  return perform(
      kMadvise, [&] { return counts_address(begin); }, [&] { return real(begin, bytes, advice); }, -1);
}
CELLAR_FAULTS_SHOWN int fallocate(int file, int mode, off_t at, off_t bytes) {
  static const auto real = next<decltype(fallocate)>("fallocate");
  return perform(
      kFallocate, [&] { return counts_file(file); }, [&] { return real(file, mode, at, bytes); }, -1);
}
CELLAR_FAULTS_SHOWN int ftruncate(int file, off_t bytes) noexcept {
  static const auto real = next<decltype(ftruncate)>("ftruncate");
  return perform(
      kFtruncate, [&] { return counts_file(file); }, [&] { return real(file, bytes); }, -1);
}
CELLAR_FAULTS_SHOWN int unlinkat(int directory, const char* name, int flags) noexcept {
  static const auto real = next<decltype(unlinkat)>("unlinkat");
  return perform(
      kUnlink, [&] { return counts_path(directory, name); }, [&] { return real(directory, name, flags); },
      -1);
}
CELLAR_FAULTS_SHOWN int unlink(const char* name) noexcept { return unlinkat(AT_FDCWD, name, 0); }
// Closes in any case, as Linux does.
CELLAR_FAULTS_SHOWN int close(int file) {
  static const auto real = next<decltype(close)>("close");
  const bool on = active.load(std::memory_order_relaxed);
  if (on && plan.call == kCalls) count(kClose, [&] { return counts_file(file); });
  if (!on || plan.call != kClose || !counts_file(file) || !strikes()) return real(file);
  if (plan.action == Action::kKillBefore) end_process();
  static_cast<void>(real(file));
  if (plan.action != Action::kError) end_process();
  errno = plan.error;
  return -1;
}
CELLAR_FAULTS_SHOWN int mkdirat(int directory, const char* name, mode_t mode) noexcept {
  static const auto real = next<decltype(mkdirat)>("mkdirat");
  return perform(
      kMkdir, [&] { return counts_path(directory, name); }, [&] { return real(directory, name, mode); }, -1);
}
CELLAR_FAULTS_SHOWN int mkdir(const char* name, mode_t mode) noexcept {
  return mkdirat(AT_FDCWD, name, mode);
}
CELLAR_FAULTS_SHOWN int linkat(int from_in, const char* from, int to_in, const char* to, int flags) noexcept {
  static const auto real = next<decltype(linkat)>("linkat");
  return perform(
      kLink, [&] { return counts_path(to_in, to); }, [&] { return real(from_in, from, to_in, to, flags); },
      -1);
}
CELLAR_FAULTS_SHOWN int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static const auto real = next<decltype(clock_gettime)>("clock_gettime");
  const int result = real(clock, now);
  if (!active.load(std::memory_order_relaxed) || clock != CLOCK_REALTIME) return result;
  if (plan.call == kCalls) count(kClock, [] { return true; });
  if (plan.call == kClock && strikes()) now->tv_sec += plan.step_s;
  return result;
}
}
