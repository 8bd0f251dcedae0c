// SparseBytes: the content of a file in memory; what was never written reads as zeros and costs nothing.
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

  // Puts `bytes` at `offset`, growing to hold them.
  void write(uint64_t offset, std::string_view bytes);
  void append(std::string_view bytes) { write(size_, bytes); }

  // Copies [offset, offset + bytes), which must lie within size().
  void read(uint64_t offset, size_t bytes, char* into) const;
  std::string read(uint64_t offset, size_t bytes) const;

  // Grows with zeros, or cuts.
  void resize(uint64_t size);

 private:
  // Each chunk holds the beginning of its range; the rest of the range is zero. Small files stay small that
  // way.
  std::vector<std::string> chunks_;
  uint64_t size_ = 0;
};

}  // namespace cellar
