// SparseBytes as a table of chunks, each as long as its last byte that is not known to be zero.
#include "base/sparse_bytes.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace cellar {

namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;

bool all_zero(std::string_view bytes) {
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

void SparseBytes::write(uint64_t offset, std::string_view bytes) {
  const uint64_t end = offset + bytes.size();
  if (end > size_) resize(end);
  while (!bytes.empty()) {
    std::string& chunk = chunks_[offset / kChunkBytes];
    const size_t within = offset % kChunkBytes;
    const std::string_view piece = bytes.substr(0, kChunkBytes - within);
    if (within >= chunk.size()) {
      if (!all_zero(piece)) {
        chunk.resize(within);
        chunk.append(piece);
      }
    } else {
      if (chunk.size() < within + piece.size()) chunk.resize(within + piece.size());
      std::memcpy(chunk.data() + within, piece.data(), piece.size());
    }
    offset += piece.size();
    bytes.remove_prefix(piece.size());
  }
}

void SparseBytes::read(uint64_t offset, size_t bytes, char* into) const {
  CELLAR_ASSERT(offset <= size_ && bytes <= size_ - offset);
  while (bytes > 0) {
    const std::string& chunk = chunks_[offset / kChunkBytes];
    const size_t within = offset % kChunkBytes;
    const size_t piece = std::min(bytes, kChunkBytes - within);
    const size_t stored = within < chunk.size() ? std::min(piece, chunk.size() - within) : 0;
    std::memcpy(into, chunk.data() + std::min(within, chunk.size()), stored);
    std::memset(into + stored, 0, piece - stored);
    into += piece;
    offset += piece;
    bytes -= piece;
  }
}

std::string SparseBytes::read(uint64_t offset, size_t bytes) const {
  std::string content(bytes, '\0');
  read(offset, bytes, content.data());
  return content;
}

void SparseBytes::resize(uint64_t size) {
  chunks_.resize((size + kChunkBytes - 1) / kChunkBytes);
  if (size < size_ && size % kChunkBytes != 0) {
    std::string& last = chunks_.back();
    last.resize(std::min<size_t>(last.size(), size % kChunkBytes));
  }
  size_ = size;
}

}  // namespace cellar
