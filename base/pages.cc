// Pages: mapped memory without a file.
#include "base/pages.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <new>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/recycled.h"

namespace cellar {

namespace {

std::atomic<uint64_t> taken{0};

constexpr size_t kSmallPageBytes = 4096;
constexpr size_t kHugePageBytes = 2 << 20;

// Returns null if the system has no memory.
char* try_map(size_t bytes) {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<char*>(pages);
}

void unmap(char* pages, size_t bytes) {
  if (bytes == 0 || ::munmap(pages, bytes) == 0) return;
  // A process has a largest number of mappings, and a hole in one makes two of it. Only the addresses are
  // lost then.
  CELLAR_ASSERT(errno == ENOMEM);
  ::madvise(pages, bytes, MADV_DONTNEED);
}

bool is_aligned(const char* pages, size_t alignment) {
  return reinterpret_cast<uintptr_t>(pages) % alignment == 0;
}

// Returns null if the system has no memory. The system puts mappings of one size next to each other, so that
// usually only the first is too long.
char* try_map_aligned(size_t bytes, size_t alignment) {
  char* pages = try_map(bytes);
  if (pages == nullptr || is_aligned(pages, alignment)) return pages;
  unmap(pages, bytes);
  pages = try_map(bytes + alignment);
  if (pages == nullptr) return nullptr;
  const size_t before = alignment - reinterpret_cast<uintptr_t>(pages) % alignment;
  unmap(pages, before);
  unmap(pages + before + bytes, alignment - before);
  return pages + before;
}

// Returns memory of one huge page, or of small ones if the system has no huge page. The pages are there.
// Returns null if the system has no memory.
char* try_map_huge_page() {
  char* const pages = try_map_aligned(kHugePageBytes, kHugePageBytes);
  if (pages == nullptr) return nullptr;
  ::madvise(pages, kHugePageBytes, MADV_HUGEPAGE);
  touch_pages(pages, kHugePageBytes);
  return pages;
}

void give_to_system(char* pages, size_t bytes) {
  unmap(pages, bytes);
  taken.fetch_sub(bytes, std::memory_order_relaxed);
}

// The spare blocks of the process, the one that was returned last on top.
class SpareBlocks {
 public:
  // Returns a spare block, or nullptr.
  char* take() {
    const MutexLock lock(mutex_);
    if (count_ == 0) return nullptr;
    ++uses_;
    return blocks_[--count_];
  }
  // Returns true if fewer bytes are spare, and one more block would be kept.
  bool lacks(uint64_t bytes) const {
    const MutexLock lock(mutex_);
    return count_ < limit() && count_ * SparePages::kBlockBytes < bytes;
  }
  // Returns false if the block must go back to the system.
  bool keep(char* block) {
    const MutexLock lock(mutex_);
    if (count_ >= limit()) return false;
    ++uses_;
    blocks_[count_++] = block;
    return true;
  }
  void ask(uint64_t bytes) {
    // A fork waits for the lock, which the child inherits.
    static const int handlers = pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
    CELLAR_ASSERT(handlers == 0);
    const MutexLock lock(mutex_);
    asked_bytes_ += bytes;
  }
  void withdraw(uint64_t bytes) {
    const MutexLock lock(mutex_);
    CELLAR_ASSERT(asked_bytes_ >= bytes);
    asked_bytes_ -= bytes;
    shrink_to(limit());
  }
  void release() {
    const MutexLock lock(mutex_);
    shrink_to(0);
  }
  uint64_t bytes() const {
    const MutexLock lock(mutex_);
    return count_ * SparePages::kBlockBytes;
  }
  uint64_t uses() const {
    const MutexLock lock(mutex_);
    return uses_;
  }

 private:
  static void lock_for_fork();
  static void unlock_after_fork();
  size_t limit() const CELLAR_REQUIRES(mutex_) {
    return std::min<uint64_t>(asked_bytes_ / SparePages::kBlockBytes, blocks_.size());
  }
  void shrink_to(size_t blocks) CELLAR_REQUIRES(mutex_) {
    while (count_ > blocks) give_to_system(blocks_[--count_], SparePages::kBlockBytes);
  }

  mutable Mutex mutex_;
  uint64_t asked_bytes_ CELLAR_GUARDED_BY(mutex_) = 0;
  uint64_t uses_ CELLAR_GUARDED_BY(mutex_) = 0;
  size_t count_ CELLAR_GUARDED_BY(mutex_) = 0;
  std::array<char*, SparePages::kBytesMax / SparePages::kBlockBytes> blocks_ CELLAR_GUARDED_BY(mutex_) = {};
};

constinit SpareBlocks spare;

bool is_spare(size_t bytes, size_t alignment) {
  return bytes == SparePages::kBlockBytes && alignment == kPagesAlignment;
}

void SpareBlocks::lock_for_fork() CELLAR_NO_THREAD_SAFETY_ANALYSIS { spare.mutex_.lock(); }
void SpareBlocks::unlock_after_fork() CELLAR_NO_THREAD_SAFETY_ANALYSIS { spare.mutex_.unlock(); }

}  // namespace

char* take_pages(size_t bytes, size_t alignment) {
  CELLAR_ASSERT(bytes > 0 && std::has_single_bit(alignment) && alignment >= kPagesAlignment);
  // AddressSanitizer finds uses of freed memory and of neighbours in memory of the allocator.
  if (!kKeepsMemory) return static_cast<char*>(::operator new (bytes, std::align_val_t{alignment}));
  if (is_spare(bytes, alignment))
    if (char* const block = spare.take()) return block;
  char* const pages = try_map_aligned(bytes, alignment);
  if (pages == nullptr) throw std::bad_alloc();
  taken.fetch_add(bytes, std::memory_order_relaxed);
  return pages;
}

void return_pages(char* pages, size_t bytes, size_t alignment) {
  if (!kKeepsMemory) return ::operator delete (pages, std::align_val_t{alignment});
  if (!is_spare(bytes, alignment) || !spare.keep(pages)) give_to_system(pages, bytes);
}

void touch_pages(char* pages, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kSmallPageBytes) *static_cast<volatile char*>(pages + at) = 0;
}

uint64_t bytes_of_pages() { return taken.load(std::memory_order_relaxed); }

// A sum of huge numbers must not overflow.
SparePages::SparePages(uint64_t bytes) : asked_bytes_(std::min<uint64_t>(bytes, kBytesMax)) {
  spare.ask(asked_bytes_);
}
SparePages::~SparePages() { spare.withdraw(asked_bytes_); }

void SparePages::make_ready(uint64_t bytes) {
  while (kKeepsMemory && spare.lacks(bytes)) {
    char* const blocks = try_map_huge_page();
    if (blocks == nullptr) return;  // the writer that needs the memory finds out
    taken.fetch_add(kHugePageBytes, std::memory_order_relaxed);
    for (size_t at = 0; at < kHugePageBytes; at += kBlockBytes)
      if (!spare.keep(blocks + at)) give_to_system(blocks + at, kBlockBytes);
  }
}

uint64_t SparePages::bytes() { return spare.bytes(); }
uint64_t SparePages::uses() { return spare.uses(); }
void SparePages::release() { spare.release(); }

}  // namespace cellar
