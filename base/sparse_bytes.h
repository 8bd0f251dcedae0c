// SparseBytes: the content of a file in memory. Ranges never written read as zeros and take no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cellar {

// One thread at a time.
class SparseBytes {
 public:
  uint64_t size() const { return size_; }

  // Writes `bytes` at `offset`, growing the content as needed.
  void write(uint64_t offset, std::string_view bytes);
  void append(std::string_view bytes) { write(size_, bytes); }

  // Copies the range [offset, offset + bytes), which must lie within size().
  void read(uint64_t offset, size_t bytes, char* into) const;
  std::string read(uint64_t offset, size_t bytes) const;

  // Grows the content with zeros, or truncates it.
  void resize(uint64_t size);

 private:
  // Each chunk holds only the beginning of its range; the rest of the range is zero. This keeps small
  // files small.
  std::vector<std::string> chunks_;
  uint64_t size_ = 0;
};

}  // namespace cellar
