// Real files: positioned reads, plain appends by write(2), mapped appends by copying.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "base/assert.h"
#include "base/fetch_lines.h"
#include "base/mutex.h"
#include "base/raise_to.h"
#include "platform/posix_process.h"
#include "platform/posix_support.h"

namespace cellar::posix {

namespace {

// The kernel is asked to begin writing after this many appended bytes.
constexpr uint64_t kWritebackBytes = 4 << 20;
// A mapped file lets go of its full pages before a sync when they have so many bytes.
constexpr uint64_t kFullPagesMin = 64 << 10;
// A mapped file takes so many bytes of the medium at its creation, which shows whether the medium can do it.
constexpr uint64_t kAllocatedAtFirst = 64 << 10;
constexpr size_t kTransferBytesMax = size_t{1} << 30;  // one read(2) or write(2) moves less than 2 GiB

std::string at_offset(uint64_t offset) { return "offset " + std::to_string(offset); }

// Any thread.
class PosixReadable final : public ReadableFile {
 public:
  PosixReadable(Descriptor file, std::string path, uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}

  uint64_t size() const override { return size_; }

  Result<uint64_t> present_size() const override {
    struct stat facts = {};
    if (::fstat(file_.get(), &facts) != 0) return error_status(errno, "cannot look at", path_);
    return static_cast<uint64_t>(facts.st_size);
  }

  Status read(uint64_t offset, size_t bytes, char* into) const override {
    CELLAR_TRY(check_range(offset, bytes));
    while (bytes > 0) {
      const size_t piece = std::min(bytes, kTransferBytesMax);
      const ssize_t got =
          uninterrupted([&] { return ::pread(file_.get(), into, piece, static_cast<off_t>(offset)); });
      if (got < 0) return error_status(errno, "cannot read", path_).at(at_offset(offset));
      if (got == 0) return short_read(offset, bytes);  // the file was cut after it was opened
      offset += static_cast<uint64_t>(got);
      into += got;
      bytes -= static_cast<size_t>(got);
    }
    return {};
  }

  // Takes data in the page cache at once. Announces the rest together, so that the device can overlap the
  // reads.
  Status read_many(std::span<const ReadRequest> requests) const override {
    if (requests.size() == 1) return read(requests[0].offset, requests[0].bytes, requests[0].into);
    std::vector<const ReadRequest*> waiting;
    for (const ReadRequest& request : requests) {
      CELLAR_TRY(check_range(request.offset, request.bytes));
      if (!read_cached(request)) waiting.push_back(&request);
    }
    for (const ReadRequest* request : waiting) will_need(request->offset, request->bytes);
    for (const ReadRequest* request : waiting) {
      CELLAR_TRY(read(request->offset, request->bytes, request->into));
    }
    return {};
  }

  Result<uint64_t> next_data(uint64_t offset, uint64_t& end) const override {
    end = size_;
    if (offset >= size_) return size_;
    const off_t begin = ::lseek(file_.get(), static_cast<off_t>(offset), SEEK_DATA);
    if (begin < 0 && errno == ENXIO) return size_;
    if (begin < 0) return offset;  // this file system does not support holes
    const off_t hole = ::lseek(file_.get(), begin, SEEK_HOLE);
    if (hole >= 0) end = std::min(static_cast<uint64_t>(hole), size_);
    return std::min(static_cast<uint64_t>(begin), size_);
  }

  void will_need(uint64_t offset, uint64_t bytes) const override {
    if (offset >= size_ || bytes == 0) return;  // a length of 0 would mean "to the end"
    bytes = std::min(bytes, size_ - offset);
    // The request looks at each page, which takes 20 µs for a megabyte in the page cache.
    char last;
    if (read_cached({.offset = offset + bytes - 1, .bytes = 1, .into = &last})) return;
    (void)posix_fadvise(file_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                        POSIX_FADV_WILLNEED);
  }

  Result<std::shared_ptr<const char>> map() const override {
    if (size_ == 0) return std::shared_ptr<const char>();
    void* const start = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_.get(), 0);
    if (start == MAP_FAILED) return error_status(errno, "cannot map", path_);
    // Where memory is short, a page that is touched again would bring 128 KiB with it.
    (void)::madvise(start, size_, MADV_RANDOM);
    return std::shared_ptr<const char>(static_cast<const char*>(start),
                                       [start, bytes = size_](const char*) { ::munmap(start, bytes); });
  }

 private:
  Status check_range(uint64_t offset, size_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset ? Status() : short_read(offset, bytes);
  }

  Status short_read(uint64_t offset, size_t bytes) const {
    return Status::corruption("short read: " + std::to_string(bytes) + " bytes of " + path_ + " (" +
                              std::to_string(size_) + " bytes)")
        .at(at_offset(offset));
  }

  bool read_cached(const ReadRequest& request) const {
    iovec piece{request.into, request.bytes};
    const ssize_t got = ::preadv2(file_.get(), &piece, 1, static_cast<off_t>(request.offset), RWF_NOWAIT);
    return got >= 0 && static_cast<size_t>(got) == request.bytes;
  }

  const Descriptor file_;
  const std::string path_;
  const uint64_t size_;
};

// PosixWritable: the part common to plain and mapped writing: the size, and the first failure, which
// every later call repeats.
class PosixWritable : public WritableFile {
 public:
  PosixWritable(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  uint64_t size() const override { return size_.load(std::memory_order_acquire); }

 protected:
  Status failure() const {
    if (!failed_.load(std::memory_order_acquire)) return {};
    const MutexLock lock(mutex_);
    return failure_;
  }

  // Remembers `status` as the failure unless one is already recorded; returns the recorded one.
  Status fail(const Status& status) {
    const MutexLock lock(mutex_);
    if (failure_.ok()) failure_ = status;
    failed_.store(true, std::memory_order_release);
    return failure_;
  }

  // Returns whether this process inherited the object by fork().
  bool inherited() const { return generation_ != process_generation(); }
  Status check_process() const {
    if (!inherited()) return {};
    return Status::aborted("cannot write to " + path_ + " in a forked process: it belongs to the parent");
  }

  Status fail(int error, const char* what) { return fail(error_status(error, what, path_)); }

  Descriptor file_;
  const std::string path_;
  std::atomic<uint64_t> size_{0};
  bool closed_ = false;

 private:
  const uint64_t generation_ = process_generation();
  mutable Mutex mutex_;  // sync() may fail on one thread while another appends
  Status failure_ CELLAR_GUARDED_BY(mutex_);
  std::atomic<bool> failed_{false};
};

class PlainWritable final : public PosixWritable {
 public:
  using PosixWritable::PosixWritable;

  Status append(std::string_view bytes) override {
    CELLAR_TRY(failure());
    CELLAR_TRY(check_process());
    CELLAR_ASSERT(!closed_);
    uint64_t at = size();
    while (!bytes.empty()) {
      const ssize_t put = uninterrupted(
          [&] { return ::write(file_.get(), bytes.data(), std::min(bytes.size(), kTransferBytesMax)); });
      if (put <= 0) {
        const int error = put < 0 ? errno : EIO;
        // A part of the bytes may be in the file. Nothing depends on that part, but truncating it helps a
        // full medium.
        (void)!ftruncate(file_.get(), static_cast<off_t>(size()));
        return fail(error_status(error, "cannot append to", path_).at(at_offset(at)));
      }
      at += static_cast<uint64_t>(put);
      bytes.remove_prefix(static_cast<size_t>(put));
    }
    size_.store(at, std::memory_order_release);
    if (at - asked_ >= kWritebackBytes) begin_writeback(at);
    return {};
  }

  Status sync() override {
    CELLAR_TRY(failure());
    CELLAR_ASSERT(!closed_);
    if (uninterrupted([&] { return ::fdatasync(file_.get()); }) == 0) return {};
    return fail(errno, "cannot sync");
  }

  Status close() override {
    CELLAR_TRY(failure());
    if (closed_) return {};
    closed_ = true;
    const int error = file_.close();
    return error == 0 ? Status() : fail(error, "cannot close");
  }

 private:
  // Asks the kernel to begin writing, so that a sync of a large file finds most of it written. Errors are
  // ignored here: the sync reports them.
  void begin_writeback(uint64_t until) {
    static_cast<void>(::sync_file_range(file_.get(), static_cast<off_t>(asked_),
                                        static_cast<off_t>(until - asked_), SYNC_FILE_RANGE_WRITE));
    asked_ = until;
  }

  uint64_t asked_ = 0;  // the kernel was asked to write up to this offset
};

// Gives the file room on the medium for these bytes. Errors: kNoSpace; kNotSupported if the medium cannot.
Status allocate(const Descriptor& file, const std::string& path, uint64_t from, uint64_t until) {
  CELLAR_ASSERT(from < until);
  const auto at = static_cast<off_t>(from), bytes = static_cast<off_t>(until - from);
  if (uninterrupted([&] { return ::fallocate(file.get(), 0, at, bytes); }) == 0) return {};
  return error_status(errno == EFBIG ? ENOSPC : errno, "cannot preallocate", path);
}

class MappedWritable final : public PosixWritable {
 public:
  MappedWritable(Descriptor file, std::string path, char* start, uint64_t mapped_bytes)
      : PosixWritable(std::move(file), std::move(path)), start_(start), mapped_bytes_(mapped_bytes) {}
  // A forked child leaves the file alone: the process that created the file goes on appending to it.
  ~MappedWritable() override {
    if (!closed_ && !inherited()) (void)finish();
  }

  // A first touch of a page costs microseconds, an append to a touched page 5 ns. Without this call it takes
  // 216 ns with records of 128 bytes. A medium that is full, or cannot be written because it copies on write,
  // is detected here and not by a signal. Kernels before 5.14 do not support the request for pages, so that
  // appends touch them.
  Status make_ready(uint64_t until) override {
    CELLAR_TRY(failure());
    CELLAR_ASSERT(!closed_);
    const uint64_t from = ready_.load(std::memory_order_acquire);
    until = until >= mapped_bytes_ ? mapped_bytes_ : std::min(round_up_to_page(until), mapped_bytes_);
    if (until <= from) return {};
    CELLAR_TRY(allocate(file_, path_, from, until));
    constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE
    int failed = 0;
    do {
      failed = uninterrupted([&] { return ::madvise(start_ + from, until - from, kPopulateWrite); });
    } while (failed != 0 && errno == EAGAIN);
    if (failed != 0 && errno != EINVAL)
      return error_status(errno == EFAULT ? ENOSPC : errno, "cannot preallocate", path_);
    raise_to(ready_, until);
    const uint64_t full = size() / page_bytes() * page_bytes();
    const uint64_t gone = gone_.load(std::memory_order_relaxed);
    if (full >= gone + kFullPagesMin) {
      let_full_pages_go(gone, full);
      raise_to(gone_, full);
    }
    return {};
  }

  Status append(std::string_view bytes) override {
    CELLAR_TRY(failure());
    CELLAR_TRY(check_process());
    CELLAR_ASSERT(!closed_);
    const uint64_t at = size_.load(std::memory_order_relaxed);
    CELLAR_ASSERT(bytes.size() >= sizeof(uint64_t) && at % sizeof(uint64_t) == 0);
    if (bytes.size() > mapped_bytes_ - at) {
      return fail(Status::no_space("mapped file " + path_ + " is full").at(at_offset(at)));
    }
    if (at + bytes.size() > ready_.load(std::memory_order_acquire)) [[unlikely]] {
      if (Status status = make_ready(at + bytes.size()); !status.ok()) return fail(std::move(status));
    }
    char* to = start_ + at;
    std::memcpy(to + sizeof(uint64_t), bytes.data() + sizeof(uint64_t), bytes.size() - sizeof(uint64_t));
    uint64_t first = 0;
    std::memcpy(&first, bytes.data(), sizeof first);
    std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(to)).store(first, std::memory_order_release);
    size_.store(at + bytes.size(), std::memory_order_release);
    fetch_lines_to_write(to + bytes.size(), bytes.size());
    return {};
  }

  // Writes the range since the last sync, in whole pages; the page that contains the last sync's end is
  // written again.
  Status sync() override {
    CELLAR_TRY(failure());
    CELLAR_ASSERT(!closed_);
    const uint64_t page = page_bytes();
    const uint64_t end = size();
    const uint64_t synced = synced_.load(std::memory_order_acquire);
    if (end > 0 && end <= synced) return {};  // another sync may have reached further
    const uint64_t begin = synced / page * page;
    let_full_pages_go(begin, end / page * page);
    // With a range, the system writes the range's pages and the metadata needed to find them, including the
    // preallocated length. It does not write the zeros after the range, which are dirty since creation.
    // Writing them would make the first sync long, and every later append the first touch of a clean page.
    const uint64_t bytes = std::max<uint64_t>(end - begin, 1);
    if (uninterrupted([&] { return ::msync(start_ + begin, bytes, MS_SYNC); }) != 0)
      return fail(errno, "cannot sync");
    raise_to(synced_, end);
    return {};
  }

  Status close() override {
    CELLAR_TRY(failure());
    CELLAR_TRY(check_process());
    if (closed_) return {};
    const int error = finish();
    return error == 0 ? Status() : fail(error, "cannot close");
  }

 private:
  static uint64_t page_bytes() {
    static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return bytes;
  }
  static uint64_t round_up_to_page(uint64_t bytes) {
    return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
  }

  // Takes the pages from `begin` to `end` out of this process. They stay in the page cache, and no append
  // touches them again. When the kernel writes a page that a process has changed through a mapping, it
  // interrupts the processors on which the process runs. That took a tenth of the processor time of a load.
  // Random puts are 1.1 to 1.3 times as fast without it. A refusal changes nothing else.
  void let_full_pages_go(uint64_t begin, uint64_t end) {
    if (end < begin + kFullPagesMin) return;
    static_cast<void>(::madvise(start_ + begin, end - begin, MADV_DONTNEED));
  }

  int finish() {
    closed_ = true;
    int error = ::munmap(start_, mapped_bytes_) == 0 ? 0 : errno;
    const auto length = static_cast<off_t>(size());
    const int cut = uninterrupted([&] { return ::ftruncate(file_.get(), length); });
    if (cut != 0 && error == 0) error = errno;
    const int close_error = file_.close();
    return error != 0 ? error : close_error;
  }

  char* const start_;
  const uint64_t mapped_bytes_;
  std::atomic<uint64_t> synced_{0};
  std::atomic<uint64_t> ready_{0};  // the pages up to here are there, in memory and on the medium
  std::atomic<uint64_t> gone_{0};   // make_ready() took those up to here out of the process
};

// The file has its full size at once, so that the mapping is valid. It takes the medium's room as it is made
// ready. A page without room is never touched.
Result<std::unique_ptr<WritableFile>> map_writable(Descriptor file, std::string path, uint64_t mapped_bytes) {
  if (mapped_bytes > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) {
    return Status::invalid_argument("cannot map " + std::to_string(mapped_bytes) + " bytes of " + path);
  }
  CELLAR_TRY(allocate(file, path, 0, std::min(mapped_bytes, kAllocatedAtFirst)));
  const auto length = static_cast<off_t>(mapped_bytes);
  if (uninterrupted([&] { return ::ftruncate(file.get(), length); }) != 0)
    return error_status(errno == EFBIG ? ENOSPC : errno, "cannot preallocate", path);
  void* start = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (start == MAP_FAILED) {
    if (errno == ENODEV)
      return Status::not_supported("cannot map " + path + ": the medium has no shared mappings");
    return error_status(errno, "cannot map", path);
  }
  return std::unique_ptr<WritableFile>(std::make_unique<MappedWritable>(
      std::move(file), std::move(path), static_cast<char*>(start), mapped_bytes));
}

}  // namespace

Result<std::unique_ptr<ReadableFile>> make_readable(Descriptor file, std::string path) {
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return error_status(errno, "cannot examine", path);
  if (!S_ISREG(facts.st_mode)) return Status::io_error("cannot open " + path + ": it is not a regular file");
  return std::unique_ptr<ReadableFile>(std::make_unique<PosixReadable>(std::move(file), std::move(path),
                                                                       static_cast<uint64_t>(facts.st_size)));
}

Result<std::unique_ptr<WritableFile>> make_writable(Descriptor file, std::string path,
                                                    uint64_t mapped_bytes) {
  if (mapped_bytes > 0) return map_writable(std::move(file), std::move(path), mapped_bytes);
  return std::unique_ptr<WritableFile>(std::make_unique<PlainWritable>(std::move(file), std::move(path)));
}

}  // namespace cellar::posix
