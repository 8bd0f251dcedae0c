// StoredBlock: a block as it lies in its file, checked and not decompressed.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/recycled.h"
#include "hfile/block/block_header.h"

namespace cellar {

// DiskBytes: memory for a block as it is stored, while it is decompressed. A thread keeps the memory for its
// next block, unless the block is large. A check of a block may read another one: that one gets other memory.
class DiskBytes {
 public:
  explicit DiskBytes(size_t bytes)
      : kept_(kKeepsMemory && bytes <= kKeptBytes), data_(kept_ ? std::move(kept()) : nullptr) {
    if (data_ == nullptr) data_ = std::make_unique_for_overwrite<char[]>(kept_ ? kKeptBytes : bytes);
  }
  ~DiskBytes() {
    if (kept_ && data_ != nullptr) kept() = std::move(data_);
  }
  DiskBytes(DiskBytes&&) noexcept = default;
  DiskBytes& operator=(DiskBytes&&) = delete;
  DiskBytes(const DiskBytes&) = delete;
  DiskBytes& operator=(const DiskBytes&) = delete;
  char* data() const { return data_.get(); }

 private:
  static constexpr size_t kKeptBytes = 32 << 10;
  static std::unique_ptr<char[]>& kept() {
    thread_local std::unique_ptr<char[]> of_thread;
    return of_thread;
  }

  const bool kept_;
  std::unique_ptr<char[]> data_;
};

// The bytes lie in the copy, or in the mapping of the file.
struct StoredBlock {
  std::optional<DiskBytes> copy;
  std::string_view disk;
  BlockHeader header;

  std::string_view body() const { return disk.substr(header.header_bytes, header.body_bytes); }
};

}  // namespace cellar
