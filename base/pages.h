// Pages: memory straight from the operating system, for large blocks that are freed together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cellar {

// Returns `bytes` (1 or more) of memory, aligned to 64 bytes. It does not come from the allocator, which
// keeps freed blocks that lie between others: docs/decisions/memtables-take-pages.md. Throws std::bad_alloc
// as operator new does. Any thread.
char* take_pages(size_t bytes);
// Returns memory of take_pages(bytes) to the system. Any thread.
void return_pages(char* pages, size_t bytes);
// Returns the bytes that the process has taken and not returned, of which the allocator does not know.
uint64_t bytes_of_pages();

}  // namespace cellar
