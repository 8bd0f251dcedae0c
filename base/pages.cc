// Pages: mapped memory without a file.
#include "base/pages.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <new>

#include "base/assert.h"
#include "base/recycled.h"

namespace cellar {

namespace {

std::atomic<uint64_t> taken{0};

}  // namespace

char* take_pages(size_t bytes) {
  CELLAR_ASSERT(bytes > 0);
  // AddressSanitizer finds uses of freed memory and of neighbours in memory of the allocator.
  if (!kKeepsMemory) return static_cast<char*>(::operator new (bytes, std::align_val_t{64}));
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  taken.fetch_add(bytes, std::memory_order_relaxed);
  return static_cast<char*>(pages);
}

void return_pages(char* pages, size_t bytes) {
  if (!kKeepsMemory) return ::operator delete (pages, std::align_val_t{64});
  if (::munmap(pages, bytes) != 0) {
    // A process has a largest number of mappings, and a hole in one makes two of it. Only the addresses are
    // lost then.
    CELLAR_ASSERT(errno == ENOMEM);
    ::madvise(pages, bytes, MADV_DONTNEED);
  }
  taken.fetch_sub(bytes, std::memory_order_relaxed);
}

uint64_t bytes_of_pages() { return taken.load(std::memory_order_relaxed); }

}  // namespace cellar
