// Pages: memory straight from the operating system, for large blocks that are freed together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cellar {

constexpr size_t kPagesAlignment = 64;

// Returns `bytes` (1 or more) of memory, aligned to `alignment`, a power of two and at least kPagesAlignment.
// It does not come from the allocator, which keeps freed blocks that lie between others:
// docs/decisions/memtables-take-pages.md. The bytes have any value. Throws std::bad_alloc as operator new
// does. Any thread.
char* take_pages(size_t bytes, size_t alignment = kPagesAlignment);
// Returns memory of take_pages(bytes, alignment) to the system, or keeps it for later: see SparePages. Any
// thread.
void return_pages(char* pages, size_t bytes, size_t alignment = kPagesAlignment);
// Sees to it that the memory of these pages is there: stores a zero in each of them. `pages` begins a page.
void touch_pages(char* pages, size_t bytes);
// Returns the bytes that the process has taken from the system and not given back, spare ones included. The
// allocator does not know of them.
uint64_t bytes_of_pages();

// SparePages: returned blocks of kBlockBytes wait for the next take_pages() of that size. A page of the
// system costs a fault and is filled with zeros; a spare one costs neither. The blocks belong to the process.
// Each object asks for a number of bytes, and at most the sum of them is kept. When an object goes, the
// system gets what is above the sum. Any thread. A forked child may use the blocks of its parent.
class SparePages {
 public:
  static constexpr size_t kBlockBytes = 1 << 20;
  static constexpr size_t kBytesMax = 64 << 20;  // whatever is asked for
  // Made ready after each block that memtables took. The fastest writer fills so much in 30 ms.
  static constexpr uint64_t kReadyBytes = 4 * kBlockBytes;

  explicit SparePages(uint64_t bytes);
  ~SparePages();
  SparePages(const SparePages&) = delete;
  SparePages& operator=(const SparePages&) = delete;

  // Makes new blocks, in huge pages if the system has some, until so many bytes are spare, or as many as are
  // asked for. Stops if the system has no memory. A block takes about 0.3 ms, so this is work for a job.
  static void make_ready(uint64_t bytes);
  // Returns whether memory that grew from `before` to `after` bytes has come to another block: it is time to
  // make some ready.
  static constexpr bool is_passed(uint64_t before, uint64_t after) {
    return before / kBlockBytes != after / kBlockBytes;
  }
  // Returns the bytes of all spare blocks of the process.
  static uint64_t bytes();
  // Returns how many blocks were kept and taken again so far. The blocks are unused while it stays the same.
  static uint64_t uses();
  // Gives all of them back to the system.
  static void release();

 private:
  const uint64_t asked_bytes_;
};

}  // namespace cellar
