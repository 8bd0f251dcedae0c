// Pages: mapped memory without a file.
#include "base/pages.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/recycled.h"

namespace cellar {

namespace {

std::atomic<uint64_t> taken{0};

void unmap(char* pages, size_t bytes) {
  if (::munmap(pages, bytes) != 0) {
    // A process has a largest number of mappings, and a hole in one makes two of it. Only the addresses are
    // lost then.
    CELLAR_ASSERT(errno == ENOMEM);
    ::madvise(pages, bytes, MADV_DONTNEED);
  }
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
    while (count_ > blocks) unmap(blocks_[--count_], SparePages::kBlockBytes);
  }

  mutable Mutex mutex_;
  uint64_t asked_bytes_ CELLAR_GUARDED_BY(mutex_) = 0;
  uint64_t uses_ CELLAR_GUARDED_BY(mutex_) = 0;
  size_t count_ CELLAR_GUARDED_BY(mutex_) = 0;
  std::array<char*, SparePages::kBytesMax / SparePages::kBlockBytes> blocks_ CELLAR_GUARDED_BY(mutex_) = {};
};

constinit SpareBlocks spare;

void SpareBlocks::lock_for_fork() CELLAR_NO_THREAD_SAFETY_ANALYSIS { spare.mutex_.lock(); }
void SpareBlocks::unlock_after_fork() CELLAR_NO_THREAD_SAFETY_ANALYSIS { spare.mutex_.unlock(); }

}  // namespace

char* take_pages(size_t bytes) {
  CELLAR_ASSERT(bytes > 0);
  // AddressSanitizer finds uses of freed memory and of neighbours in memory of the allocator.
  if (!kKeepsMemory) return static_cast<char*>(::operator new (bytes, std::align_val_t{64}));
  if (bytes == SparePages::kBlockBytes)
    if (char* const block = spare.take()) return block;
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  taken.fetch_add(bytes, std::memory_order_relaxed);
  return static_cast<char*>(pages);
}

void return_pages(char* pages, size_t bytes) {
  if (!kKeepsMemory) return ::operator delete (pages, std::align_val_t{64});
  if (bytes != SparePages::kBlockBytes || !spare.keep(pages)) unmap(pages, bytes);
}

uint64_t bytes_of_pages() { return taken.load(std::memory_order_relaxed); }

// A sum of huge numbers must not overflow.
SparePages::SparePages(uint64_t bytes) : asked_bytes_(std::min<uint64_t>(bytes, kBytesMax)) {
  spare.ask(asked_bytes_);
}
SparePages::~SparePages() { spare.withdraw(asked_bytes_); }
uint64_t SparePages::bytes() { return spare.bytes(); }
uint64_t SparePages::uses() { return spare.uses(); }
void SparePages::release() { spare.release(); }

}  // namespace cellar
